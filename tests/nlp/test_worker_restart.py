"""A stage that dies at every single thing it does to the bus, one after another, and is started again each time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from nlp.worker import NlpWorker
from tenor.bus import Bus, Commit, Consumer, Partition
from tenor.events import CALLS, SENTENCES, CallMetrics, CallState, Event, Topic
from tests.nlp.rig import Rig, heard, said

pytestmark = pytest.mark.slow


class Died(Exception):
    pass


class MortalBus:
    """A bus whose user dies at the nth thing done to it, before or after it is done."""

    def __init__(self, bus: Bus, acts: int, *, after: bool) -> None:
        self._bus = bus
        self._acts = acts
        self._after = after

    async def act(self, doing: Any) -> Any:
        self._acts -= 1
        if self._acts < 0 or (self._acts == 0 and not self._after):
            doing.close()
            raise Died
        done = await doing
        if self._acts == 0:
            raise Died
        return done

    async def publish(self, topic: Topic, event: Event, **holder: Any) -> Any:
        return await self.act(self._bus.publish(topic, event, **holder))

    async def publish_many(self, topic: Topic, events: Iterable[Event], **holder: Any) -> Any:
        return await self.act(self._bus.publish_many(topic, events, **holder))

    def consumer(self, *arguments: Any, **hooks: Any) -> Consumer:
        return MortalConsumer(self, self._bus.consumer(*arguments, **hooks))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bus, name)


class MortalConsumer:
    def __init__(self, bus: MortalBus, consumer: Consumer) -> None:
        self._bus = bus
        self._consumer = consumer

    async def __aenter__(self) -> MortalConsumer:
        await self._consumer.__aenter__()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._consumer.__aexit__(*exc)

    async def commit(self, commits: Mapping[Partition, Commit]) -> None:
        await self._bus.act(self._consumer.commit(commits))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._consumer, name)


async def feed(rig: Rig) -> None:
    """Three calls, side by side; what comes of them takes many batches."""
    for call in ("a", "b", "c"):
        await rig.state("live", call)
    for number in range(4):
        at_ms = number * 5000
        for call in ("a", "b", "c"):
            if number < 2 or call != "b":
                await rig.say(said("This is terrible and", at_ms, call=call), heard(at_ms + 1500, call=call, channel=1))
                await rig.say(said("I want a refund. Thanks.", at_ms + 2000, call=call))
        if number == 1:
            await rig.state("failed", "b", reason="connection lost")
    await rig.state("ended", "a")
    await rig.state("ended", "c")


async def published(rig: Rig) -> tuple[dict[str, Any], dict[Any, Any]]:
    """By id: the newest revision of every sentence; everything on the calls topic."""
    sentences: dict[str, Any] = {}
    for sentence in await rig.events(SENTENCES):
        before = sentences.get(sentence.sentence)
        if before is None or before.revision <= sentence.revision:
            sentences[sentence.sentence] = msgspec.structs.replace(sentence, times={})
    calls: dict[Any, Any] = {}
    for event in await rig.events(CALLS):
        if isinstance(event, CallMetrics):
            calls[event.call, event.at_ms, event.final] = event
        elif isinstance(event, CallState):
            calls[event.call, event.state] = event.reason
        else:
            calls[event.alert] = event
    return sentences, calls


async def over(rig: Rig) -> bool:
    _, calls = await published(rig)
    return ("a", "analysed") in calls and ("c", "analysed") in calls and any(key[::2] == ("b", True) for key in calls)


async def undisturbed(folder: Path) -> Any:
    async with Rig(folder) as rig:
        rig.start()
        await feed(rig)
        await rig.until(lambda: over(rig))
        return await published(rig)


async def lives(rig: Rig, acts: int, *, after: bool) -> bool:
    """Start a stage that is to die at its nth act; False when the work was done before."""
    bus = MortalBus(rig.bus, acts, after=after)
    stage = asyncio.create_task(NlpWorker(bus, rig.settings, rig.backend).run())
    finished = asyncio.create_task(rig.until(lambda: over(rig)))
    await asyncio.wait((stage, finished), return_when=asyncio.FIRST_COMPLETED)
    died = stage.done()
    for task in (stage, finished):
        task.cancel()
    await asyncio.gather(stage, finished, return_exceptions=True)
    return died


@pytest.mark.parametrize("after", [False, True])
async def test_whatever_it_dies_of_the_next_one_completes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    monkeypatch.setattr("nlp.worker.BATCH", 2)
    monkeypatch.setattr("tenor.bus.partitioned.COMMIT_S", 0.0)
    expected = await undisturbed(tmp_path / "undisturbed")
    for acts in range(1, 40, 2):
        async with Rig(tmp_path / str(acts)) as rig:
            await feed(rig)
            dead = 0
            while dead < 3 and await lives(rig, acts, after=after):
                dead += 1
            if dead == 3:
                rig.start()
                await rig.until(lambda rig=rig: over(rig))  # type: ignore[misc]
            assert await published(rig) == expected, f"died at act {acts}"


async def test_what_was_published_is_not_published_again_after_an_orderly_stop(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        rig.start()
        await rig.state("live")
        await rig.say(said("I want a", 0))
        await rig.until(lambda: _count(rig, 1))
        await rig.stop()
        rig.start()
        await rig.say(said("refund. Thanks.", 1800))
        await rig.until(lambda: _count(rig, 3))
        await rig.state("ended")
        await rig.analysed()
        texts = [(sentence.revision, sentence.text) for sentence in await rig.sentences()]
        assert texts == [(0, "I want a"), (1, "I want a refund."), (0, "Thanks.")]
        assert (await rig.metrics())[-1].values["sentences.caller"] == 2


async def test_partitions_are_shared_and_a_second_stage_takes_its_part(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        rig.start()
        calls = [f"call-{number}" for number in range(6)]
        for call in calls:
            await rig.state("live", call)
            await rig.say(said("I want a", 0, call=call))
        rig.start()
        for call in calls:
            await rig.say(said("refund.", 1800, call=call))
            await rig.state("ended", call)
        for call in calls:
            await rig.analysed(call)
            newest = {one.sentence: one for one in await rig.sentences(call)}
            assert [one.text for one in newest.values()] == ["I want a refund."]


async def _count(rig: Rig, number: int) -> bool:
    return len(await rig.sentences()) == number
