"""The assistant's stage on a bus, and both ends of it for a test to hold."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from dialog.engine import Engine
from dialog.engine.default_slots import with_slots
from dialog.flow.loading import SHIPPED, AssistantFolder
from dialog.flow.model import Assistant
from dialog.flow_versions import FlowVersion, FlowVersions
from dialog.fulfilment.registry import actions
from dialog.fulfilment.runner import ActionRunner
from dialog.fulfilment.types import Action, ActionCall, ActionResult
from dialog.understanding.keywords import Keywords
from dialog.understanding.tags import CachedUnderstander
from dialog.understanding.types import OneUnderstander
from dialog.values.types import Parser
from dialog.worker import AssistantWorker
from tenor.bus import Bus
from tenor.events import CALLS, TRANSCRIPTS, TURNS, Call, CallState, Event, Topic, Transcript, Turn
from tenor.runtime.assistant.assistant import parsers_of
from tenor.settings import Settings
from tests.worker_rig import RunningWorker, WorkerRig

STARTED = 1_790_000_000.0


def info(**fields: Any) -> Call:
    usual = {
        "source": "page",
        "roles": ("caller", "assistant"),
        "started_at": STARTED,
        "medium": "chat",
        "attributes": {"assistant": "retail", "timezone": "UTC"},
    }
    return Call(**{**usual, **fields})


def live(call: str = "c", **fields: Any) -> CallState:
    return CallState(call=call, state="live", at=STARTED, info=info(**fields))


def line(text: str, number: int, call: str = "c", **fields: Any) -> Transcript:
    usual = {
        "call": call,
        "channel": 0,
        "role": "caller",
        "utterance": f"{call}/0/{number * 1000}",
        "start_ms": number * 1000,
        "end_ms": number * 1000,
        "text": text,
        "final": True,
        "confidence": 1.0,
        "times": {"captured": 1.0, "published": 2.0},
    }
    return Transcript(**{**usual, **fields})


class Worker:
    """Makes workers that share a shop, as processes on one machine would."""

    def __init__(self, home: Path, flows: Path = SHIPPED, **given: Action) -> None:
        self._home, self._flows = home, flows
        self.actions: Mapping[str, Action] = {**actions("sample", home), **given}
        self._understander = CachedUnderstander(Keywords())
        self._folder = AssistantFolder(flows)

    def make(self, bus: Bus, clock: Callable[[], float] = time.time) -> AssistantWorker:
        versions = FlowVersions(self._folder, self.of_flows, self._home / "flows")
        return AssistantWorker(bus, versions, OneUnderstander(self._understander), clock=clock)

    def of_flows(self, flows: Assistant) -> FlowVersion:
        flows = with_slots(flows)
        kinds = frozenset(slot.type for slot in flows.slots.values())
        return FlowVersion(Engine(flows, self._understander, _parsers(kinds)), ActionRunner(self.actions))


@lru_cache
def _parsers(kinds: frozenset[str]) -> Mapping[str, Parser]:
    return parsers_of(sorted(kinds))


class Rig(WorkerRig):
    def __init__(self, settings: Settings, flows: Path = SHIPPED, **given: Action) -> None:
        super().__init__()
        self.settings = settings
        self.workers = Worker(settings.home, flows, **given)

    def worker(self) -> RunningWorker:
        return self.workers.make(self.bus)

    async def open(self, call: str = "c", **fields: Any) -> None:
        await self.bus.publish(CALLS, live(call, **fields))

    async def end(self, call: str = "c", **fields: Any) -> None:
        await self.bus.publish(CALLS, CallState(call=call, state="ended", at=time.time(), **fields))

    async def say(self, text: str, number: int, call: str = "c") -> Turn:
        """A line, and the turn that comes of it."""
        await self.bus.publish(TRANSCRIPTS, line(text, number, call))
        return await self.turn(number, call)

    async def turn(self, number: int, call: str = "c") -> Turn:
        await self.until(lambda: self._there(number, call))
        return next(turn for turn in await self.turns(call) if turn.turn == number)

    async def _there(self, number: int, call: str) -> bool:
        return any(turn.turn == number for turn in await self.turns(call))

    async def turns(self, call: str = "c") -> list[Turn]:
        return [event for event in await self.events(TURNS, call) if isinstance(event, Turn)]

    async def events(self, topic: Topic, call: str = "c") -> list[Event]:
        return await super().events(topic, call)


class Counted:
    """An action that changes something, and counts how often it does under each key."""

    source = "counted"

    def __init__(self, result: dict[str, Any]) -> None:
        self.done: dict[str, int] = {}
        self._result = result

    async def run(self, call: ActionCall) -> ActionResult:
        self.done[call.key] = self.done.get(call.key, 0) + 1
        return ActionResult(result=self._result, source=self.source)

    async def lookup(self, key: str) -> ActionResult | None:
        return ActionResult(result=self._result, source=self.source) if key in self.done else None
