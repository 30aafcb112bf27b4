"""A worker that dies at any moment: no turn is lost or doubled, and no action is done twice."""

from __future__ import annotations

import asyncio
import random
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dialog.flow.loading import SHIPPED
from dialog.fulfilment.types import ActionCall, ActionResult
from tenor.bus import partitioned
from tenor.events import CALLS, TRANSCRIPTS, TURNS, ActionDone, CallState, CallTakenOver, Transcript, Turn
from tests.dialog.memory_bus import Crash, Handle, MemoryBus
from tests.dialog.rig import Worker, line, live

pytestmark = pytest.mark.slow

LINES = {
    "ann": ("i want to reserve jeans in boston", "yes", "will it rain tomorrow", "seattle", "a person please"),
    "ben": ("how much is a laptop", "i want to reserve a laptop in denver", "yes please", "thanks"),
    "cat": ("how much are jeans",),
}
TAKEN_OVER = "cat"
POINTS = 50


class Orders:
    """The other side of `reserve`: a shop that is never down, and counts what it was told to do."""

    source = "orders"

    def __init__(self) -> None:
        self.calls: dict[str, list[str]] = {}
        self.process: Handle | None = None

    async def run(self, call: ActionCall) -> ActionResult:
        assert self.process is not None
        self.process.step()
        self.calls.setdefault(call.key, []).append(call.call)
        self.process.step()  # done, and nobody here knows
        return self._result(call.key)

    async def lookup(self, key: str) -> ActionResult | None:
        return self._result(key) if key in self.calls else None

    def _result(self, key: str) -> ActionResult:
        result = {
            "reserved": True, "reason": None, "reference": key[:6], "name": "it", "store": "Nara", "address": "1 A St",
            "city": "Boston", "quantity": 1, "price": 1.0, "currency": "USD", "until": "2026-11-20",
        }  # fmt: skip
        return ActionResult(result=result, source=self.source)


@contextmanager
def committing_always(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setattr(partitioned, "COMMIT_S", 0.0)
        yield


class Play:
    """Conversations that are all on the bus, and processes that take them, one after the other."""

    def __init__(self, home: Path, workers: dict[str, Any]) -> None:
        self.orders = Orders()
        if not workers:  # made once: the flows and the shop are the same for all
            flows = shutil.copytree(SHIPPED, home / "flows-of-ours")
            workers["made"] = Worker(home, flows, reserve=self.orders)
        self._workers: Worker = workers["made"]
        self._workers.actions = {**self._workers.actions, "reserve": self.orders}
        self.bus = MemoryBus()
        for call in LINES:
            self.bus.append(CALLS, live(call))
        for number in range(max(map(len, LINES.values()))):
            for call, lines in LINES.items():
                if number < len(lines):
                    self.bus.append(TRANSCRIPTS, line(lines[number], number + 1, call))
        self.bus.append(TURNS, CallTakenOver(call=TAKEN_OVER, agent="amir", at=0.0))
        self.used: list[int] = []

    async def process(self, steps: int | None) -> bool:
        """One process, until it dies or everything is done; whether it is done."""
        handle = self.orders.process = Handle(self.bus, steps)
        running = asyncio.create_task(self._workers.make(handle, clock=lambda: 0.0).run())
        try:
            for _ in range(20_000):
                await asyncio.sleep(0)
                if running.done():
                    with pytest.raises(Crash):
                        running.result()
                    return False
                if self._done():
                    return True
            raise AssertionError("it never comes to an end")
        finally:
            self.used.append(handle.used)
            handle._left = 0  # dead: nothing it does any more counts
            everything = asyncio.all_tasks() - {asyncio.current_task()}
            for task in everything:
                task.cancel()
            await asyncio.gather(*everything, return_exceptions=True)

    def _done(self) -> bool:
        numbers = {(turn.call, turn.turn) for turn in self.turns()}
        return numbers >= {(call, len(lines) + (call == TAKEN_OVER)) for call, lines in LINES.items()} and all(
            commit.offset == len(self.bus.records[TRANSCRIPTS.name])
            for part, commit in self.bus.commits.items()
            if part.topic == TRANSCRIPTS.name
        )

    def turns(self) -> list[Turn]:
        return [event for event in self.bus.events(TURNS) if isinstance(event, Turn)]

    def result(self) -> dict[str, list[Any]]:
        """What readers have in the end, in order, but for what a clock says."""
        found: dict[str, list[Any]] = {}
        for turn in self.turns():
            actions = tuple(msgspec.structs.replace(one, ms=None) for one in turn.actions)
            plain = msgspec.structs.replace(turn, times={}, actions=actions, turns_to=0)
            found.setdefault(turn.call, []).append(plain)
        return found

    def said(self) -> dict[str, str]:
        lines = [event for event in self.bus.events(TRANSCRIPTS) if isinstance(event, Transcript)]
        told: dict[str, str] = {}
        for one in lines:
            if one.role == "assistant":
                assert told.setdefault(one.utterance, one.text) == one.text
        return told


async def played(home: Path, workers: dict[str, Any], deaths: Sequence[int]) -> Play:
    play = Play(home, workers)
    for steps in deaths:
        if await play.process(steps):
            return play
    assert await play.process(None)
    return play


def check(play: Play, expected: Play, deaths: Sequence[int]) -> None:
    assert play.result() == expected.result(), f"died after {deaths}"
    assert play.said() == expected.said(), f"died after {deaths}"
    assert [len(calls) for calls in play.orders.calls.values()] == [1, 1], f"done twice after {deaths}"
    done = [event.key for event in play.bus.events(TURNS) if isinstance(event, ActionDone)]
    assert set(done) == set(play.orders.calls)


async def test_wherever_it_dies_a_successor_comes_to_the_same_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers: dict[str, Any] = {}
    with committing_always(monkeypatch):
        expected = await played(tmp_path, workers, [])
        assert [turn.action for turn in expected.result()["ann"]][2] == "reserve"
        assert [turn.event for turn in expected.result()[TAKEN_OVER]] == ["start", "taken_over", "heard"]
        check(expected, expected, [])
        total = expected.used[0]
        for steps in range(0, total, max(1, total // POINTS)):
            check(await played(tmp_path, workers, [steps]), expected, [steps])


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_a_thousand_deaths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every single moment, and several deaths in a row."""
    workers: dict[str, Any] = {}
    chance = random.Random(7328)
    with committing_always(monkeypatch):
        expected = await played(tmp_path, workers, [])
        total, points = expected.used[0], 0
        orders = [[steps] for steps in range(total)]
        while points < 1000:
            deaths = orders.pop(0) if orders else [chance.randrange(total) for _ in range(chance.randint(2, 6))]
            check(await played(tmp_path, workers, deaths), expected, deaths)
            points += len(deaths)


async def test_a_call_that_ended_meanwhile_is_answered_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with committing_always(monkeypatch):
        play = Play(tmp_path, {})
        for call in LINES:
            play.bus.append(CALLS, CallState(call=call, state="ended", at=0.0))
        await play.process(40)
        assert await play.process(None)
        assert len(play.result()["ann"]) == 6
