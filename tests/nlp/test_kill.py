"""A real language stage, killed again and again: what is on the topics is what an undisturbed one would have told.

Calls of every fate are fed while it dies: ended, failed, stopped and gone on, written. The undisturbed run hears the
same records.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tenor.bus import Bus
from tenor.bus.opening import open_bus
from tenor.events import (
    CALLS,
    DEAD,
    SENTENCES,
    TRANSCRIPTS,
    Alert,
    CallMetrics,
    CallState,
    Heard,
    Sentence,
    Topic,
    Transcript,
)
from tenor.settings import BusSettings, Settings
from tests.killing import TenorProcess
from tests.nlp.rig import heard, info, said
from tests.watching import events

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

LINES = (
    ("I lost my card on Monday and", "I need a new one."),
    ("Let me look that up for you.", "Could you hold on please?"),
    ("This is terrible. I have been waiting for", "an hour now. I am really angry."),
    ("I am so sorry to hear that.",),
    ("Cancel my account. I want to speak to", "your manager."),
    ("Of course. Is there anything else?",),
    ("No. Thank you so much. You have been great.",),
)
FATES = ("ended", "failed", "revived", "chat")
Moment = list[tuple[Topic, Transcript | Heard | CallState]]


def call(name: str, fate: str) -> Iterator[Moment]:
    """What is published of a call, moment by moment."""
    about = info(medium="chat") if fate == "chat" else info()

    def state(state: Any, reason: str = "") -> tuple[Topic, CallState]:
        return CALLS, CallState(call=name, state=state, at=0.0, reason=reason, info=about)

    yield [state("live")]
    at_ms = position = 0
    for turn, line in enumerate(LINES):
        channel = turn % 2
        if fate == "revived" and turn == 4:
            yield [state("ended", "audio stopped")]
            yield []
            yield [state("live")]
        for part in line:
            at_ms += 900
            utterance = f"{name}/{channel}/{position if fate == 'chat' else at_ms}"
            final = said(part, at_ms, call=name, channel=channel, utterance=utterance)
            yield [(TRANSCRIPTS, final)]
            at_ms, position = final.end_ms, position + 1
            if fate != "chat":
                yield [(TRANSCRIPTS, heard(at_ms + 400, call=name, channel=side)) for side in (0, 1)]
    yield [state("failed", "connection lost") if fate == "failed" else state("ended")]


async def published(bus: Bus) -> dict[tuple[str, ...], Any]:
    """What readers have in the end, by id: the newest revision, the metrics of each position, alerts, ends."""
    rows: dict[tuple[str, ...], Any] = {}
    for sentence in await events(bus, SENTENCES):
        assert isinstance(sentence, Sentence)
        before = rows.get(("sentence", sentence.sentence))
        if before is None or before.revision <= sentence.revision:
            rows["sentence", sentence.sentence] = msgspec.structs.replace(sentence, times={})
    for event in await events(bus, CALLS):
        if isinstance(event, CallMetrics):
            # Whether the metrics of a call that goes on after all were its last for a moment is a matter of time.
            rows["metrics", event.call, "last" if event.final else str(event.at_ms)] = event
        elif isinstance(event, Alert):
            rows["alert", event.alert] = event
        elif event.state == "analysed":
            rows["analysed", event.call] = event.reason
    rows["dead",] = len(await events(bus, DEAD))
    return rows


async def over(bus: Bus, calls: dict[str, str]) -> bool:
    """Whether everything is told of every call."""
    for name, fate in calls.items():
        of_call = [event for event in await events(bus, CALLS) if event.call == name]
        states = [event.state for event in of_call if isinstance(event, CallState)]
        if fate == "failed":
            if not any(isinstance(event, CallMetrics) and event.final for event in of_call):
                return False
        elif states.count("ended") < 1 + (fate == "revived") or states[-1] != "analysed":
            return False
    return True


async def run(settings: Settings, calls: dict[str, str], kills: int) -> dict[tuple[str, ...], Any]:
    chance = random.Random(kills)
    stage = TenorProcess(settings, "serve", "language")
    async with open_bus(settings) as bus:
        stage.start()
        try:
            feeding = asyncio.create_task(feed(bus, calls, pace_s=0.3 if kills else 0.0))
            for _ in range(kills):
                await asyncio.sleep(chance.uniform(1.5, 3.0))
                stage.kill()
                stage.start()
            await feeding
            async with asyncio.timeout(60):
                while not await over(bus, calls):
                    stage.check()
                    await asyncio.sleep(0.1)
            return await published(bus)
        finally:
            stage.kill()


async def feed(bus: Bus, calls: dict[str, str], pace_s: float) -> None:
    sides = [call(name, fate) for name, fate in calls.items()]
    while sides:
        for side in list(sides):
            moment = next(side, None)
            if moment is None:
                sides.remove(side)
                continue
            for topic, event in moment:
                await bus.publish(topic, event)
        await asyncio.sleep(pace_s)


def undisturbed(folder: Path, calls: dict[str, str]) -> dict[tuple[str, ...], Any]:
    folder.mkdir()
    return asyncio.run(run(Settings(home=folder, bus=BusSettings(partitions=2)), calls, kills=0))


@pytest.mark.parametrize("kind", ["embedded", pytest.param("kafka", marks=pytest.mark.kafka)])
def test_killed_at_any_moment_it_tells_what_it_would_have_told(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    count, kills = (12, 4) if kind == "embedded" else (4, 2)
    calls = {f"call-{number}": FATES[number % len(FATES)] for number in range(count)}
    expected = undisturbed(tmp_path / "undisturbed", calls)
    settings: Settings = request.getfixturevalue(f"{kind}_settings")
    disturbed = asyncio.run(run(settings, calls, kills))
    assert {key[0] for key in expected} >= {"sentence", "metrics", "alert", "analysed"}
    assert disturbed == expected
