"""Calls of a batch in the database, so that the pages show them; what is there already is left alone."""

from __future__ import annotations

import asyncio

import msgspec

from storage import calls, deck, recordings, writer
from storage.calls import WholeCall
from storage.database import open_database
from storage.viewer import HOUSE
from tenor.bus import Bus
from tenor.cli.batch import Outcome
from tenor.cli.shift import caught_up
from tenor.events import Alert, Call, CallMetrics, Sentence
from tenor.settings import Settings
from tenor.stage import Stage


class Keeping:
    def __init__(self, settings: Settings, *, again: bool) -> None:
        self._again = again
        self._database = open_database(settings)

    def stages(self, bus: Bus, settings: Settings) -> list[Stage]:
        return [writer.Writer(bus, settings), recordings.Recorder(bus, settings)]

    async def settle(self, bus: Bus) -> None:
        await caught_up(bus, writer.TOPICS.values(), writer.GROUP)
        await caught_up(bus, deck.TOPICS.values(), recordings.GROUP)

    async def find(self, call: str) -> Outcome | None:
        """What the database knows of a call; its id comes from its content, so a changed file is another call."""
        return None if self._again else await asyncio.to_thread(self._find, call)

    def _find(self, call: str) -> Outcome | None:
        with self._database.session() as session:
            whole = calls.whole(session, HOUSE, call)
        return _outcome(whole) if whole is not None and whole.call.state == "analysed" else None


def _outcome(whole: WholeCall) -> Outcome:
    """The rows of a call as the events they were made of."""
    call = whole.call
    figures = CallMetrics(
        call=call.id,
        at_ms=call.duration_ms,
        values=call.metrics,
        task=call.task,
        task_score=call.task_score,
        final=True,
    )
    return Outcome(
        file="",
        call=call.id,
        info=msgspec.convert({**call.model_dump(), "redact": call.redact or None}, Call),
        duration_ms=call.duration_ms,
        said=[msgspec.convert({**row.model_dump(), "sentence": row.id}, Sentence) for row in whole.sentences],
        metrics=figures,
        alerts=[msgspec.convert({**row.model_dump(), "alert": row.id}, Alert) for row in whole.alerts],
    )
