"""A worker that dies at any of its steps, and the one that takes over: nothing missing, nothing twice."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import pytest

from asr.worker import AsrWorker
from tenor.bus import Bus, Commit, Partition, Position, Record
from tenor.events import Event, Topic
from tests.asr.rig import Rig
from tests.asr.scripted_riva import ScriptedRiva, silence, speak

pytestmark = pytest.mark.slow

CALLER = (
    silence(700) + speak("hello i would like to cancel my order") + silence(900) + speak("thanks bye") + silence(5200)
)
LOUDNESS = [-24.6, -24.1]
AGENT = speak("hello") + silence(3000) + speak("okay sure") + silence(100)


class Killed(Exception):
    """The process is gone."""


class Mortal:
    """A bus that lets its worker do so many steps and then nothing more, as if killed.

    `late` lets the last publication through without telling, as when the process dies before it hears
    of its success."""

    def __init__(self, bus: Bus, steps: int, *, late: bool) -> None:
        self._bus = bus
        self._steps = steps
        self._late = late
        self.steps = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bus, name)

    async def publish(self, topic: Topic, event: Event, **holder: Any) -> Position:
        self.steps += 1
        if self.steps > self._steps:
            raise Killed
        position = await self._bus.publish(topic, event, **holder)
        if self.steps == self._steps and self._late:
            raise Killed
        return position

    def consumer(self, *args: Any, **hooks: Any) -> MortalConsumer:
        return MortalConsumer(self, self._bus.consumer(*args, **hooks))

    def commit_allowed(self) -> bool:
        self.steps += 1
        return self.steps <= self._steps


class MortalConsumer:
    def __init__(self, bus: Mortal, consumer: Any) -> None:
        self._bus = bus
        self._consumer = consumer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._consumer, name)

    async def __aenter__(self) -> Self:
        await self._consumer.__aenter__()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._consumer.__aexit__(*exc)

    async def poll(self, max_records: int = 500, timeout_s: float = 0.5) -> list[Record]:
        found: list[Record] = await self._consumer.poll(5, 0.05)
        return found

    async def commit(self, commits: Mapping[Partition, Commit]) -> None:
        if not self._bus.commit_allowed():
            raise Killed
        await self._consumer.commit(commits)


async def run_mortal(rig: Rig, steps: int, *, late: bool, calls: Sequence[str] = ("c1", "c2")) -> bool:
    """Whether it died."""
    worker = asyncio.create_task(AsrWorker(Mortal(rig.bus, steps, late=late), rig.settings).run())

    async def over() -> bool:
        return all([await _is_over(rig, call) for call in calls])

    while not worker.done() and not await over():
        await asyncio.sleep(0.02)
    worker.cancel()
    result = (await asyncio.gather(worker, return_exceptions=True))[0]
    if isinstance(result, Exception) and not isinstance(result, Killed):
        raise result
    return isinstance(result, Killed)


async def _is_over(rig: Rig, call: str) -> bool:
    return any(state.state == "ended" for state in await rig.states(call))


async def _check(rig: Rig) -> None:
    for call in ("c1", "c2"):
        await rig.over(call)
        assert await rig.texts(call, 0) == ["hello i would like to cancel my order", "thanks bye"]
        assert await rig.texts(call, 1) == ["hello", "okay sure"]
        finals = await rig.transcripts(call, 0)
        assert [final.start_ms for final in finals] == [700, 3520]
        assert [final.loudness for final in finals] == LOUDNESS
        assert [state.state for state in await rig.states(call)] == ["live", "ended"]


@pytest.mark.parametrize("patient", [False, True], ids=["live", "patient"])
@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("steps", [0, 1, 2, 3, 5, 7, 10, 13, 17, 21, 26, 32])
async def test_killed_at_any_step(
    tmp_path: Path, steps: int, late: bool, patient: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tenor.bus.partitioned.COMMIT_S", 0.0)
    async with Rig(tmp_path, ScriptedRiva(), interim=False, patient=patient) as rig:
        await rig.stop()
        await rig.call("c1", CALLER, AGENT)
        await rig.call("c2", CALLER, AGENT)
        died = await run_mortal(rig, steps, late=late)
        if died:
            await run_mortal(rig, steps + 3, late=not late)
        rig.start()
        await _check(rig)
        await asyncio.sleep(0.1)
        await rig.stop()
        # Whoever comes last finds nothing to do.
        rig.start()
        await asyncio.sleep(0.2)
        await _check(rig)


async def test_a_worker_that_is_stopped_hands_its_calls_over(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        await rig.begin("c1", redact="text")
        await rig.play("c1", CALLER[:56_000])

        async def heard_one() -> bool:
            return len(await rig.texts("c1")) == 1

        await rig.until(heard_one)
        await rig.stop()
        rig.start()
        await rig.play("c1", CALLER[56_000:], first=35)
        await rig.end("c1")
        ended = await rig.over("c1")
        assert await rig.texts("c1") == ["hello i would like to cancel my order", "thanks bye"]
        assert [state.state for state in await rig.states("c1")] == ["live", "ended"]
        assert ended.info is not None
        assert ended.info.redact == "text"
        assert (await rig.transcripts("c1"))[-1].role == "caller"


async def test_a_worker_stopped_in_the_middle_of_a_sentence_commits_no_further(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        await rig.begin("c1")
        await rig.play("c1", CALLER[:24_000])
        await rig.until(lambda: rig.riva.audio_s >= 1.5)
        await rig.stop()
        rig.start()
        await rig.play("c1", CALLER[24_000:], first=15)
        await rig.end("c1")
        await rig.over("c1")
        assert await rig.texts("c1") == ["hello i would like to cancel my order", "thanks bye"]


async def test_calls_move_to_a_second_worker_and_back(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        calls = [f"c{number}" for number in range(6)]
        for call in calls:
            await rig.begin(call)
            await rig.play(call, CALLER[:32_000])
        second = rig.start()
        await asyncio.sleep(1.0)
        for call in calls:
            await rig.play(call, CALLER[32_000:51_200], first=20)
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)
        rig.start()
        for call in calls:
            await rig.play(call, CALLER[51_200:], first=32)
            await rig.end(call)
        for call in calls:
            await rig.over(call)
            assert await rig.texts(call) == ["hello i would like to cancel my order", "thanks bye"]
