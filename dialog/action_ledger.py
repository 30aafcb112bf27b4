"""Actions of one conversation, each carried out once per wish, whatever is killed when.

    ActionStarted --> the provider, with the key --> ActionDone --> Turn
         |                                              |
         a successor asks by the key (`lookup`)         a successor uses the answer

Only actions that change something are noted: the others are simply asked again. What a provider makes of the same key
is the provider's: no promise here reaches further.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec
import structlog

from dialog.engine.events import Call
from dialog.fulfilment.runner import ActionRunner
from dialog.fulfilment.types import ActionCall, ActionFailed, ActionResult
from tenor.aio import run_to_completion
from tenor.bus import PartitionLost
from tenor.bus.partitioned import Publish
from tenor.events import TURNS, ActionDone, ActionStarted, TurnAction, TurnFiller

log = structlog.get_logger(__name__)

Clock = Callable[[], float]


class ActionLedger:
    """What is known of the actions of a turn that has not been published yet."""

    def __init__(self, publish: Publish, call: str, clock: Clock = time.time) -> None:
        self._publish, self._call, self._clock = publish, call, clock
        self._started: dict[str, ActionStarted] = {}
        self._done: dict[str, TurnAction] = {}
        self._fillers: set[int] = set()
        self._used: set[str] = set()
        """Keys of what this attempt at the turn has carried out."""

    def begin(self) -> None:
        """The turn is taken, perhaps again."""
        self._used.clear()

    def note(self, event: ActionStarted | ActionDone | TurnFiller) -> None:
        """Read from the bus: ours, or our predecessor's. The first of a key counts."""
        match event:
            case ActionStarted():
                self._started.setdefault(event.key, event)
            case ActionDone():
                self._done.setdefault(event.key, event.done)
            case TurnFiller():
                self._fillers.add(event.turn)

    def forget(self) -> None:
        """The turn is published: nothing of it will be asked for again."""
        self._started.clear()
        self._done.clear()
        self._fillers.clear()

    async def carry_out(
        self, runner: ActionRunner, turn: int, call: Call, wanted: ActionCall, changes: str
    ) -> TurnAction:
        """What came of it; never raises for the provider's sake."""
        if changes == "nothing":
            return await self._with_filler(turn, call, self._ask(runner, call, wanted, changes))
        started = self._started.get(call.key) or self._earlier(turn, call.action)
        if started is not None:  # of our predecessor, who may have understood the line otherwise
            wanted = msgspec.structs.replace(wanted, key=started.key, arguments=started.arguments)
        if (known := self._done.get(wanted.key)) is not None:
            self._used.add(wanted.key)
            return msgspec.structs.replace(known, ms=None)
        self._used.add(wanted.key)
        # Torn apart, it could have happened without our saying so.
        return await run_to_completion(self._change(runner, turn, call, wanted, changes, known=started is not None))

    def _earlier(self, turn: int, action: str) -> ActionStarted | None:
        """Of a predecessor's attempt, and not yet used by ours: two reservations in a line are two."""
        unused = (one for one in self._started.values() if one.key not in self._used)
        return next((one for one in unused if one.turn == turn and one.action == action), None)

    async def _change(
        self, runner: ActionRunner, turn: int, call: Call, wanted: ActionCall, changes: str, *, known: bool
    ) -> TurnAction:
        done: TurnAction | None = None
        if known:
            done = await self._looked_up(runner, wanted)
        else:
            started = ActionStarted(
                call=self._call,
                turn=turn,
                action=wanted.name,
                key=wanted.key,
                arguments=wanted.arguments,
                at=self._clock(),
            )
            if await self._publish(TURNS, started) is None:  # whoever has the call now does it
                raise PartitionLost("another worker has taken the conversation over")
            self.note(started)
        if done is None:
            done = await self._with_filler(turn, call, self._ask(runner, call, wanted, changes))
        event = ActionDone(call=self._call, turn=turn, key=wanted.key, done=done, at=self._clock())
        await self._publish(TURNS, event)
        self.note(event)
        return done

    async def _looked_up(self, runner: ActionRunner, wanted: ActionCall) -> TurnAction | None:
        """What became of an action that was started; None: it never happened."""
        try:
            found = await runner.lookup(wanted)
        except ActionFailed as error:
            log.warning("nobody can say whether an action was done", action=wanted.name, call=self._call)
            return _failed(wanted, error, None)
        return None if found is None else _answered(wanted, found, None)

    async def _ask(self, runner: ActionRunner, call: Call, wanted: ActionCall, changes: str) -> TurnAction:
        began = time.monotonic()

        def took() -> float:
            return round((time.monotonic() - began) * 1000, 1)

        try:
            found = await runner.run(wanted, timeout_s=call.deadline_ms / 1000, retries=call.retries, changes=changes)
        except ActionFailed as error:
            return _failed(wanted, error, took())
        return _answered(wanted, found, took())

    async def _with_filler(self, turn: int, call: Call, asking: Coroutine[Any, Any, TurnAction]) -> TurnAction:
        """The filler is said once, also if the turn is taken twice."""
        if not call.filler or turn in self._fillers:
            return await asking
        task = asyncio.ensure_future(asking)
        try:
            await asyncio.wait((task,), timeout=call.filler_ms / 1000)
            if not task.done():
                filler = TurnFiller(call=self._call, turn=turn, text=call.filler, at=self._clock())
                await run_to_completion(self._publish(TURNS, filler))
                self.note(filler)
            return await task
        finally:
            task.cancel()


def _answered(wanted: ActionCall, found: ActionResult, ms: float | None) -> TurnAction:
    return TurnAction(
        name=wanted.name, arguments=wanted.arguments, result=found.result, key=wanted.key, ms=ms, source=found.source
    )


def _failed(wanted: ActionCall, error: ActionFailed, ms: float | None) -> TurnAction:
    return TurnAction(
        name=wanted.name, arguments=wanted.arguments, error=str(error) or "failed", key=wanted.key, ms=ms,
        uncertain=error.uncertain,
    )  # fmt: skip
