"""Writer and recorder as processes of their own, killed again and again: rows and recordings as if nothing had been."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deploy.postgres.server import Server
from storage.db.engine import Database, open_database
from storage.recorder.worker import GROUP as RECORDINGS
from storage.writer.worker import GROUP as STORAGE
from storage.writer.worker import TOPICS
from tenor.bus import Bus, lag
from tenor.bus.opening import open_bus
from tenor.events import (
    AUDIO,
    CALLS,
    TRANSCRIPTS,
    AudioChunk,
    CallEnded,
    CallStarted,
    Event,
    Redaction,
    Topic,
    Transcript,
)
from tenor.settings import BusSettings, Settings, StorageSettings
from tests.conftest import postgres_database
from tests.killing import TenorProcess
from tests.storage.events import STARTED, info, whole_call
from tests.storage.writing import rows, topic_of
from tests.watching import until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

COUNT, SENTENCES, RATE = 12, 40, 8000
FIRST = 100
"""Events by which one sees that the stages are at work."""


def events() -> Iterator[tuple[Topic, Event]]:
    """Calls side by side, each with sentences, audio, and something to be silenced; the end of a call comes when all
    of it has been heard."""
    told: dict[str, list[tuple[Topic, Event]]] = {}
    for number in range(COUNT):
        call = f"call {number}"
        about = info(redact="audio", agent=f"agent {number % 3}")
        sound = np.random.default_rng(number).integers(1, 3000, 4 * RATE).astype("<i2").tobytes()
        audio: list[Event] = [CallStarted(call=call, info=about)]
        for at in range(0, 4000, 100):
            audio += [
                AudioChunk(
                    call=call, channel=channel, seq=at // 100, start_ms=at, rate=RATE,
                    pcm=sound[at * 16 : at * 16 + 1600], captured_at=STARTED,
                )
                for channel in (0, 1)
            ]  # fmt: skip
        audio.append(CallEnded(call=call, reason="hangup", at=STARTED))
        of_language = [(topic_of(event), event) for event in whole_call(call, SENTENCES)]
        live = [(CALLS, type(event)(**{**_fields(event), "info": about})) for _, event in of_language[:1]]
        spans = [
            Transcript(
                call=call, channel=0, role="caller", utterance=f"{call}/{at}", start_ms=at, end_ms=at + 200, text="#",
                final=True, redacted=(Redaction(kind="card", start_ms=at, end_ms=at + 200),),
            )
            for at in (1000, 2500)
        ]  # fmt: skip
        heard: list[tuple[Topic, Event]] = [(AUDIO, event) for event in audio[1:]]
        heard[40:40] = [(TRANSCRIPTS, spans[0])]
        heard[60:60] = [(TRANSCRIPTS, spans[1])]
        said = of_language[1:-3]
        mixed = [event for pair in itertools.zip_longest(heard, said) for event in pair if event is not None]
        told[call] = [(AUDIO, audio[0]), *live, *mixed, *of_language[-3:]]
    chance = random.Random(5)
    while told:
        call = chance.choice(sorted(told))
        yield told[call].pop(0)
        if not told[call]:
            del told[call]


def _fields(event: Any) -> dict[str, Any]:
    return {name: getattr(event, name) for name in event.__struct_fields__}


async def outcome(settings: Settings, alive_s: tuple[float, ...] = ()) -> dict[str, Any]:
    """Rows and recordings after the events, with the stages killed after being at work so long, each time in the middle
    of what comes."""
    stages = TenorProcess(settings, "serve", "storage", "recordings", TENOR_TELEMETRY__LOG_LEVEL="error")
    database = open_database(settings)
    told = list(events())
    size = len(told) // (len(alive_s) + 1)
    async with open_bus(settings) as bus:
        stages.start()
        try:
            for seconds in alive_s:
                portion, told = told[:size], told[size:]
                written = _count(database)
                await _feed(bus, portion[:FIRST])
                await until(lambda written=written: _count(database) > written, timeout_s=60)  # type: ignore[misc]
                feeding = asyncio.create_task(_feed(bus, portion[FIRST:], 1.5))
                await asyncio.sleep(seconds)
                stages.kill()
                stages.start()
                await feeding
            await _feed(bus, told)
            await until(lambda: _all_done(bus, database), timeout_s=90)
        finally:
            stages.kill()
    found: dict[str, Any] = rows(database)
    database.close()
    folder = Path(settings.recordings_url)
    found["recordings"] = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    return found


async def _feed(bus: Bus, told: list[tuple[Topic, Event]], seconds: float = 0.0) -> None:
    for number, (topic, event) in enumerate(told):
        await bus.publish(topic, event)
        if number % 10 == 0:
            await asyncio.sleep(seconds * 10 / len(told))


def _count(database: Database) -> int:
    with database.session() as session:
        tables = ("sentences", "alerts")
        counts = [session.connection().exec_driver_sql(f"SELECT count(*) FROM {name}").scalar_one() for name in tables]
        return int(sum(counts))


async def _all_done(bus: Bus, database: Database) -> bool:
    if await lag(bus, TOPICS.values(), STORAGE) or await lag(bus, [AUDIO, TRANSCRIPTS], RECORDINGS):
        return False
    return all(row["recorded"] for row in rows(database, "calls")["calls"].values())


@pytest.fixture(scope="module")
def undisturbed() -> dict[str, Any]:
    """Filled by the first test that needs it."""
    return {}


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
async def test_killed_again_and_again_the_outcome_is_the_same(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path, undisturbed: dict[str, Any]
) -> None:
    def settings(name: str, url: str = "") -> Settings:
        home = tmp_path / name
        os.makedirs(home)
        return Settings(home=home, bus=BusSettings(partitions=3, lease_s=1), storage=StorageSettings(url=url))

    if not undisturbed:
        undisturbed.update(await outcome(settings("calm")))
        assert len(undisturbed["sentences"]) == COUNT * SENTENCES
        assert len(undisturbed["recordings"]) == COUNT
        assert {call["state"] for call in undisturbed["calls"].values()} == {"analysed"}
    if kind == "sqlite":
        disturbed = await outcome(settings("killed"), (1.4, 0.5, 1.1))
    else:
        server: Server = request.getfixturevalue("postgres")
        disturbed = await outcome(settings("killed", postgres_database(server)), (0.6, 1.4))
    assert disturbed == undisturbed
