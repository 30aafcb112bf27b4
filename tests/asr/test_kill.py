"""Real processes, killed: the worker, the speech server, the broker. What was said is on the topic, each once.

The same calls are first heard undisturbed; every disturbed run has to end in exactly the same finals,
words and times included. Calls come faster than real time, so that each kill finds all of them in the
middle of something. `force_final_s` is out of reach: it counts wall-clock time, which a dead broker takes.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from asr.riva.client import RivaClient
from asr.riva.errors import RivaError
from deploy.kafka.broker import Broker
from tenor.bus import Bus
from tenor.bus.opening import open_bus
from tenor.events import AUDIO, CALLS, TRANSCRIPTS, Call, CallEnded, CallStarted, CallState, Transcript
from tenor.settings import Settings, SpeechSettings
from tests.asr.scripted_riva import chunks
from tests.killing import TenorProcess
from tests.readings import RATE, calls
from tests.watching import events

pytestmark = [pytest.mark.slow, pytest.mark.kafka, pytest.mark.timeout(600)]

CALL_COUNT, SPEED = 8, 5.0
Finals = dict[tuple[int, int], list[Any]]
"""By call and channel: text, start, end, loudness and words of each final, in the order of the topic."""


class Stand:
    """The pipeline from the audio topic to the transcripts topic, each part its own process."""

    def __init__(self, broker: Broker, settings: Settings, port: int) -> None:
        self.broker = broker
        self.settings = settings
        self._riva_address = f"127.0.0.1:{port}"
        port_of = ("--port", str(port), "--http-port", "0")
        self.riva = TenorProcess(settings, "riva", *port_of)
        self.worker = TenorProcess(
            settings,
            *("serve", "asr", "--riva", self._riva_address),
            TENOR_BUS__LEASE_S="2",
            TENOR_SPEECH__INTERIM="false",
            TENOR_SPEECH__FORCE_FINAL_S="60",
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Bus]:
        self.riva.start()
        self.worker.start()
        try:
            await self.riva_answers()
            async with open_bus(self.settings) as bus:
                yield bus
        finally:
            self.worker.kill()
            self.riva.kill()

    async def riva_answers(self) -> None:
        recogniser = RivaClient(SpeechSettings(address=self._riva_address))
        try:
            async with asyncio.timeout(90):
                while True:
                    try:
                        await recogniser.models()
                        return
                    except RivaError:
                        await asyncio.sleep(0.2)
        finally:
            await recogniser.close()


@pytest.fixture(scope="module")
def undisturbed() -> Finals:
    """Filled by the first test that needs it."""
    return {}


@pytest.fixture
def stand(kafka_broker: Broker, kafka_settings: Settings, unused_tcp_port: int) -> Stand:
    return Stand(kafka_broker, kafka_settings, unused_tcp_port)


async def kill_worker(stand: Stand, chance: random.Random) -> None:
    for _ in range(4):
        await asyncio.sleep(chance.uniform(1.0, 4.0))
        stand.worker.kill()
        stand.worker.start()


async def kill_riva(stand: Stand, chance: random.Random) -> None:
    for _ in range(3):
        await asyncio.sleep(chance.uniform(1.0, 3.0))
        stand.riva.kill()
        stand.riva.start()
        await stand.riva_answers()


async def kill_broker(stand: Stand, chance: random.Random) -> None:
    for _ in range(2):
        await asyncio.sleep(chance.uniform(1.0, 3.0))
        await asyncio.to_thread(stand.broker.kill)
        await asyncio.to_thread(stand.broker.start)


async def leave_alone(stand: Stand, chance: random.Random) -> None:
    """An undisturbed run."""


Disturb = Callable[[Stand, random.Random], Awaitable[None]]


@pytest.mark.parametrize("disturb", [kill_worker, kill_riva, kill_broker])
async def test_what_was_said_is_written_down_exactly_once(stand: Stand, undisturbed: Finals, disturb: Disturb) -> None:
    async with stand.running() as bus:
        if not undisturbed:
            undisturbed.update(await _hear(stand, bus, "calm", leave_alone))
            assert sum(map(len, undisturbed.values())) >= 2 * CALL_COUNT
        finals = await _hear(stand, bus, disturb.__name__, disturb)
    assert finals == undisturbed


async def _hear(stand: Stand, bus: Bus, run: str, disturb: Disturb) -> Finals:
    names = [f"{run}-{number}" for number in range(CALL_COUNT)]
    disturbing = asyncio.ensure_future(disturb(stand, random.Random(run)))
    await _feed(bus, names)
    await disturbing
    async with asyncio.timeout(180):
        while not set(names) <= {event.call for event in await events(bus, CALLS) if _is_end(event)}:
            await asyncio.sleep(0.3)
    ends = [event.call for event in await events(bus, CALLS) if _is_end(event) and event.call in names]
    assert sorted(ends) == names
    finals: Finals = {}
    for event in await events(bus, TRANSCRIPTS):
        if isinstance(event, Transcript) and event.final and event.call in names:
            words = [(word.text, word.start_ms, word.end_ms) for word in event.words]
            number = int(event.call.rpartition("-")[2])
            heard = (event.text, event.start_ms, event.end_ms, event.loudness, words)
            finals.setdefault((number, event.channel), []).append(heard)
    return finals


async def _feed(bus: Bus, names: list[str]) -> None:
    roles = ("caller", "agent")
    info = Call(source="file", roles=roles, started_at=time.time(), rate=RATE)
    await bus.publish_many(AUDIO, [CallStarted(call=name, info=info) for name in names])
    sides = [
        list(chunks(name, channel, pcm, RATE))
        for name, both in zip(names, calls(CALL_COUNT), strict=True)
        for channel, pcm in enumerate(both)
    ]
    for moment in range(max(map(len, sides))):
        await bus.publish_many(AUDIO, [side[moment] for side in sides if moment < len(side)])
        await asyncio.sleep(0.1 / SPEED)
    await bus.publish_many(AUDIO, [CallEnded(call=name, reason="hangup", at=time.time()) for name in names])


def _is_end(event: Any) -> bool:
    return isinstance(event, CallState) and event.state in ("ended", "failed")
