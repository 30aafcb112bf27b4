"""What the stages said of each call, handed over once the call is over and all of it is read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from tenor.bus import Bus, Partition, Record
from tenor.events import CALLS, TRANSCRIPTS, Alert, CallMetrics, CallState, Sentence, Topic, Transcript


@dataclass
class Account:
    """All that was said of one call."""

    states: list[CallState] = field(default_factory=list)
    """In their order."""
    said: dict[str, Transcript | Sentence] = field(default_factory=dict)
    """Final transcripts or sentences, by id; of a sentence its highest revision."""
    metrics: CallMetrics | None = None
    alerts: dict[str, Alert] = field(default_factory=dict)
    progress: Callable[[int], None] | None = None
    """Told how far the call is understood, in milliseconds."""

    @property
    def failed(self) -> bool:
        return any(state.state == "failed" for state in self.states)


class Collector:
    """A stage that reads for whoever expects a call. With transcripts a call is over when it has ended, with sentences
    when it is analysed or, if it failed, when its last figures are there."""

    name = "collector"

    def __init__(self, bus: Bus, topic: Topic) -> None:
        self._bus, self._topic = bus, topic
        self._accounts: dict[str, tuple[Account, asyncio.Future[Account]]] = {}
        self._read: dict[int, int] = {}
        """Next offset of each partition of the topic."""
        self._over: list[tuple[int, int, str]] = []
        """Calls that are over once the offset of their partition is reached."""

    def expect(self, call: str, progress: Callable[[int], None] | None = None) -> asyncio.Future[Account]:
        """The call's account, once it is over. Ask before the call is fed."""
        future: asyncio.Future[Account] = asyncio.get_running_loop().create_future()
        self._accounts[call] = Account(progress=progress), future
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
        account, _ = self._accounts.get(record.key, (None, None))
        if account is None:
            return
        event = (self._topic if record.topic == self._topic.name else CALLS).decode(record.value)
        if isinstance(event, Transcript):
            if not event.final:
                return
            account.said[event.utterance] = event
        elif isinstance(event, Sentence):
            before = account.said.get(event.sentence)
            if not isinstance(before, Sentence) or before.revision <= event.revision:
                account.said[event.sentence] = event
        elif isinstance(event, Alert):
            account.alerts[event.alert] = event
        elif isinstance(event, CallMetrics):
            account.metrics = event
            if event.final and account.failed and self._topic is not TRANSCRIPTS:
                await self._ends(record)
        elif isinstance(event, CallState):
            account.states.append(event)
            if event.state in (("ended", "failed") if self._topic is TRANSCRIPTS else ("analysed",)):
                await self._ends(record)
        if account.progress and isinstance(event, Transcript | Sentence):
            account.progress(event.end_ms)

    async def _ends(self, record: Record) -> None:
        """All that was said is on the bus by now, though perhaps not read yet: topics are read independently."""
        _, end = await self._bus.bounds(Partition(self._topic.name, record.partition))
        self._over.append((record.partition, end, record.key))

    def _hand_over(self) -> None:
        waiting = []
        for partition, end, call in self._over:
            if self._read.get(partition, 0) < end:
                waiting.append((partition, end, call))
            elif call in self._accounts:
                account, future = self._accounts.pop(call)
                if not future.done():
                    future.set_result(account)
        self._over = waiting
