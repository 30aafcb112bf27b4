"""A call-centre floor for tests: calls that say on the bus what they are told to, and the storage stage beside them."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

import msgspec
import numpy
import soundfile
from sqlmodel import Session

from storage.db.engine import Database, open_database
from storage.recorder.store import recording_name
from storage.tables import Call as Row
from storage.writer.worker import StorageWorker
from tenor.bus import Bus
from tenor.bus.opening import open_bus
from tenor.events import (
    CALLS,
    NOTES,
    SENTENCES,
    TRANSCRIPTS,
    Alert,
    Call,
    CallMetrics,
    CallState,
    CallSummary,
    Event,
    Medium,
    Note,
    NoteAcknowledged,
    ScorePoint,
    Sentence,
    Topic,
    Transcript,
    WrittenSummary,
)
from tenor.settings import Settings

T = TypeVar("T")
Severity = Literal["info", "warning", "critical"]
MOODS = {"negative": -0.8, "neutral": 0.0, "positive": 0.8}


@contextmanager
def without(database: Database) -> Iterator[None]:
    """As good as taking the database away: whoever reads or writes calls fails."""

    def rename(table: str, to: str) -> None:
        with database.engine.begin() as connection:
            connection.exec_driver_sql(f"ALTER TABLE {table} RENAME TO {to}")

    rename("calls", "away")
    try:
        yield
    finally:
        rename("away", "calls")


class Floor:
    """Runs its own event loop, so that a test can drive a browser in the ordinary way."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._calls = 0

    def __enter__(self) -> Self:
        self._thread.start()
        self.database: Database = open_database(self.settings)
        self._bus: Bus = self._run(self._open())
        return self

    def __exit__(self, *exc: object) -> None:
        self._run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()
        self.database.close()

    def call(self, agent: str = "anna", *, call: str = "", live: bool = True, **about: Any) -> FloorCall:
        self._calls += 1
        return FloorCall(self, call or f"call-{self._calls}-{time.time_ns()}", agent, live=live, **about)

    def stored(self, happened: Callable[[Session], bool]) -> None:
        """Wait for the storage stage."""
        deadline = time.monotonic() + 15
        while time.monotonic() < deadline:
            with self.database.session() as session:
                if happened(session):
                    return
            time.sleep(0.05)
        raise AssertionError("the storage stage did not write it")

    def publish(self, topic: Topic, *events: Event) -> None:
        self._run(self._publish(topic, events))

    async def _publish(self, topic: Topic, events: Iterable[Event]) -> None:
        await self._bus.publish_many(topic, events)

    async def _open(self) -> Bus:
        bus = open_bus(self.settings)
        await bus.__aenter__()
        self._writer = asyncio.create_task(StorageWorker(bus, self.settings).run())
        return bus

    async def _close(self) -> None:
        self._writer.cancel()
        await asyncio.gather(self._writer, return_exceptions=True)
        await self._bus.__aexit__(None, None, None)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(20)


class FloorCall:
    """One call: each method is something that happens on it."""

    def __init__(
        self, floor: Floor, call: str, agent: str, *, live: bool = True, medium: Medium = "voice", **about: Any
    ) -> None:
        self.id, self.agent, self._floor = call, agent, floor
        self.at_ms = 0
        about.setdefault("site", "Leeds")
        about.setdefault("queue", "orders")
        about.setdefault("started_at", time.time())
        self.info = Call(source="test", roles=("caller", "agent"), agent=agent, medium=medium, **about)
        if live:
            floor.publish(CALLS, CallState(call=call, state="live", at=time.time(), info=self.info))

    def written(self, sentences: int = 1, *, alerts: int = 0) -> None:
        """Wait until the storage stage has it."""

        def there(session: Session) -> bool:
            row = session.get(Row, self.id)
            return row is not None and row.sentences >= sentences and row.alerts >= alerts

        self._floor.stored(there)

    def sentence(
        self,
        role: str,
        text: str,
        sentiment: str = "neutral",
        *,
        mood: float | None = None,
        late_s: float = 0.62,
        **more: Any,
    ) -> Sentence:
        """What `says` publishes."""
        channel = self.info.roles.index(role)
        start, end = self.at_ms, self.at_ms + 300 + 60 * len(text)
        self.at_ms = end + 400
        rest = (1 - 0.9) / 2
        now = time.time()
        return Sentence(
            call=self.id,
            channel=channel,
            role=role,
            sentence=more.pop("sentence", f"{self.id}/{channel}/{start}"),
            revision=more.pop("revision", 0),
            start_ms=start,
            end_ms=end,
            text=text,
            sentiment=sentiment,
            sentiment_scores={label: 0.9 if label == sentiment else rest for label in MOODS},
            mood=MOODS.get(sentiment, 0.0) if mood is None else mood,
            intent=more.pop("intent", "unknown"),
            intent_score=more.pop("intent_score", 0.9),
            times={
                "captured": now - late_s,
                "recognised": now - 0.08,
                "understood": now - 0.02,
                "sentence_published": now,
            },
            **more,
        )

    def says(self, role: str, text: str, sentiment: str = "neutral", **more: Any) -> Sentence:
        self.said = self.sentence(role, text, sentiment, **more)
        self._floor.publish(SENTENCES, self.said)
        return self.said

    def says_again(self, text: str = "") -> None:
        """The last sentence once more, as one that was continued is, heard just now."""
        later = time.time() - self.said.times["sentence_published"]
        times = {stage: at + later for stage, at in self.said.times.items()}
        self.said = msgspec.structs.replace(
            self.said, text=text or self.said.text, revision=self.said.revision + 1, times=times
        )
        self._floor.publish(SENTENCES, self.said)

    def many(self, count: int) -> tuple[Topic, *tuple[Sentence, ...]]:
        """What to publish for a long call: `floor.publish(*call.many(2000))`."""
        sides = self.info.roles
        return SENTENCES, *(self.sentence(sides[number % 2], f"Sentence {number}.") for number in range(count))

    def interim(self, role: str, text: str) -> None:
        channel = self.info.roles.index(role)
        said = Transcript(
            call=self.id,
            channel=channel,
            role=role,
            utterance=f"{self.id}/{channel}/~1",
            start_ms=self.at_ms,
            end_ms=self.at_ms + 60 * len(text),
            text=text,
            final=False,
        )
        self._floor.publish(TRANSCRIPTS, said)

    def alert(
        self, rule: str, text: str, severity: Literal["info", "warning", "critical"] = "warning", **more: Any
    ) -> None:
        alert = f"{self.id}/{rule}/{self.at_ms}"
        fired = Alert(
            call=self.id, alert=alert, rule=rule, severity=severity, text=text, at_ms=self.at_ms, at=time.time(), **more
        )
        self._floor.publish(CALLS, fired)

    def metrics(
        self,
        task: str = "",
        summary: CallSummary | None = None,
        scorecard: tuple[ScorePoint, ...] = (),
        **values: float,
    ) -> None:
        """With a scorecard they are its last ones."""
        named = {name.replace("__", "."): value for name, value in values.items()}
        score = 0.8 if task else 0.0
        about = {
            "task": task,
            "task_score": score,
            "summary": summary,
            "scorecard": scorecard,
            "final": bool(scorecard),
        }
        self._floor.publish(CALLS, CallMetrics(call=self.id, at_ms=self.at_ms, values=named, **about))  # type: ignore[arg-type]

    def scored(self, *points: ScorePoint) -> None:
        """Its last metrics, with its scorecard."""
        self.metrics(scorecard=points)

    def summarised(self, text: str, model: str) -> None:
        """What a language model writes of it."""
        self._floor.publish(
            CALLS, WrittenSummary(call=self.id, at_ms=self.at_ms, text=text, model=model, at=time.time())
        )

    def note(self, text: str, author: str = "mia", sentence: str = "") -> None:
        note = f"note-{time.time_ns()}"
        self._floor.publish(
            NOTES, Note(call=self.id, note=note, author=author, text=text, at=time.time(), sentence=sentence)
        )

    def acknowledge(self, note: str) -> None:
        self._floor.publish(NOTES, NoteAcknowledged(call=self.id, note=note, by=self.agent, at=time.time()))

    def recorded(self, seconds: float) -> None:
        """As the recordings' stage leaves it."""
        folder = Path(self._floor.settings.recordings_url)
        folder.mkdir(exist_ok=True)
        name = recording_name(self.id, "flac")
        hum = numpy.sin(numpy.arange(int(8000 * seconds)) / 8000 * 2 * numpy.pi * 300).astype("float32") * 0.1
        soundfile.write(folder / name, numpy.stack([hum, hum], 1), 8000)
        with self._floor.database.session() as session:
            row = session.get(Row, self.id)
            assert row is not None
            row.recording, row.duration_ms = name, int(seconds * 1000)
            session.add(row)
            session.commit()

    def goes_on(self) -> None:
        """Live again after its audio had stopped."""
        self._floor.publish(CALLS, CallState(call=self.id, state="live", at=time.time(), info=self.info))

    def ends(self, state: Literal["ended", "analysed", "failed"] = "ended", reason: str = "hangup") -> None:
        self._floor.publish(CALLS, CallState(call=self.id, state=state, at=time.time(), reason=reason))
