"""What the stages published of each call, handed over once the call is over and all of it is read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from tenor.bus import Bus, Partition, Record
from tenor.events import CALLS, TRANSCRIPTS, Alert, CallMetrics, CallState, Sentence, Topic, Transcript


@dataclass
class CallEvents:
    """All events of one call."""

    states: list[CallState] = field(default_factory=list)
    """In their order."""
    utterances: dict[str, Transcript] = field(default_factory=dict)
    """Final transcripts by id."""
    sentences: dict[str, Sentence] = field(default_factory=dict)
    """Each in its highest revision, by id."""
    metrics: CallMetrics | None = None
    alerts: dict[str, Alert] = field(default_factory=dict)
    progress: Callable[[int], None] | None = None
    """Told how far the call is understood, in milliseconds."""

    @property
    def failed(self) -> bool:
        return any(state.state == "failed" for state in self.states)


class Collector:
    """A stage that reads for whoever expects a call. With transcripts a call is over when it has ended, with sentences
    when it is analysed or, if it failed, when its last metrics are there."""

    name = "collector"

    def __init__(self, bus: Bus, topic: Topic) -> None:
        self._bus, self._topic = bus, topic
        self._expected: dict[str, tuple[CallEvents, asyncio.Future[CallEvents]]] = {}
        self._read: dict[int, int] = {}
        """Next offset of each partition of the topic."""
        self._over: list[tuple[int, int, str]] = []
        """Calls that are over once the offset of their partition is reached."""

    def expect(self, call: str, progress: Callable[[int], None] | None = None) -> asyncio.Future[CallEvents]:
        """The call's events, once it is over. Ask before the call is fed."""
        future: asyncio.Future[CallEvents] = asyncio.get_running_loop().create_future()
        self._expected[call] = CallEvents(progress=progress), future
        return future

    async def run(self) -> None:
        async with self._bus.follower([self._topic, CALLS], from_start=True) as follower:
            while True:
                for record in await follower.poll():
                    await self._take(record)
                self._hand_over()

    async def _take(self, record: Record) -> None:
        if record.topic == self._topic.name:
            self._read[record.partition] = record.offset + 1
        events, _ = self._expected.get(record.key, (None, None))
        if events is None:
            return
        event = (self._topic if record.topic == self._topic.name else CALLS).decode(record.value)
        if isinstance(event, Transcript):
            if not event.final:
                return
            events.utterances[event.utterance] = event
        elif isinstance(event, Sentence):
            before = events.sentences.get(event.sentence)
            if before is None or before.revision <= event.revision:
                events.sentences[event.sentence] = event
        elif isinstance(event, Alert):
            events.alerts[event.alert] = event
        elif isinstance(event, CallMetrics):
            events.metrics = event
            if event.final and events.failed and self._topic is not TRANSCRIPTS:
                await self._ends(record)
        elif isinstance(event, CallState):
            events.states.append(event)
            if event.state in (("ended", "failed") if self._topic is TRANSCRIPTS else ("analysed",)):
                await self._ends(record)
        if events.progress and isinstance(event, Transcript | Sentence):
            events.progress(event.end_ms)

    async def _ends(self, record: Record) -> None:
        """All that was said is on the bus by now, though perhaps not read yet: topics are read independently."""
        _, end = await self._bus.bounds(Partition(self._topic.name, record.partition))
        self._over.append((record.partition, end, record.key))

    def _hand_over(self) -> None:
        waiting = []
        for partition, end, call in self._over:
            if self._read.get(partition, 0) < end:
                waiting.append((partition, end, call))
            elif call in self._expected:
                events, future = self._expected.pop(call)
                if not future.done():
                    future.set_result(events)
        self._over = waiting
