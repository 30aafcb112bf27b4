"""One partition of the summaries stage: which calls are over and wait for their summary.

    sentences  ..s1 s1 s2 s1 s2 |            a call's text is read when the sentences up to where their topic ended
    calls      ..L1 L2 M1 ...... W1          when its last metrics M were read; W: its summary is published

Calls are committed up to the oldest M without W, and sentences up to the first of the oldest call that is open, so that
a successor asks for what nobody answered, and reads all that was said. It looks for W before it asks.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass

from tenor.bounded_dict import BoundedDict
from tenor.bus import Bus, Commit, Partition, Record
from tenor.bus.partitioned import Takeover
from tenor.events import CALLS, SENTENCES, CallMetrics, Sentence, Unreadable, WrittenSummary

REMEMBERED = 10_000
"""Calls that are over, of which it is known where they began: they may go on."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A summary that nobody has written yet."""

    call: str
    at_ms: int
    offset: int
    """Of the last metrics, on the topic of calls."""
    first: int
    end: int
    """Where its sentences are on their topic."""


class SummaryPartition:
    def __init__(self, bus: Bus, taken: Takeover) -> None:
        self.number = taken.number
        self._bus = bus
        self._next = dict(taken.positions)
        self._open: dict[str, tuple[int, float]] = {}
        """Of calls that are not over: where their first sentence is, and when the last of them came."""
        self._over: BoundedDict[str, int] = BoundedDict(REMEMBERED)
        self._ended: dict[int, CallMetrics] = {}
        """Last metrics by their offset, without a summary as yet."""
        self._ends: dict[int, int] = {}
        self._begun: set[int] = set()
        self.asking: set[asyncio.Task[None]] = set()
        """Requests on their way."""
        self._written: BoundedDict[tuple[str, int], None] = BoundedDict(REMEMBERED)

    async def catch_up(self) -> None:
        """What has been written since the commit is not asked for again."""
        offset = self._next[CALLS.name]
        while records := await self._bus.fetch(self._part(CALLS.name), offset):
            for record in records:
                if b'"written_summary"' in record.value:
                    self._read(record)
            offset = records[-1].offset + 1

    async def take(self, record: Record, *, asks: bool) -> None:
        """The next record of either topic; without `asks`, nobody is there to write summaries."""
        self._next[record.topic] = max(self._next[record.topic], record.offset + 1)
        if not asks:
            return
        if record.topic == SENTENCES.name:
            first, _ = self._open.get(record.key, (self._over.get(record.key, record.offset), 0.0))
            self._open[record.key] = first, record.at
        elif b'"call_metrics"' in record.value or b'"written_summary"' in record.value:
            event = self._read(record)
            if isinstance(event, CallMetrics) and event.final:
                _, self._ends[record.offset] = await self._bus.bounds(self._part(SENTENCES.name))
                self._ended[record.offset] = event

    def ready(self) -> list[Wanted]:
        """What is to be asked for now, each once."""
        found = []
        for offset, event in list(self._ended.items()):
            if offset in self._begun or self._next[SENTENCES.name] < self._ends[offset]:
                continue
            first, _ = self._open.get(event.call, (self._over.get(event.call), 0.0))
            if first is None or (event.call, event.at_ms) in self._written:  # nothing was said, or it is written
                self.done(offset)
                continue
            self._begun.add(offset)
            found.append(Wanted(event.call, event.at_ms, offset, first, self._ends[offset]))
        return found

    def done(self, offset: int) -> None:
        """It is written, or will not be."""
        event = self._ended.pop(offset, None)
        self._ends.pop(offset, None)
        self._begun.discard(offset)
        if event is not None:
            self._written[event.call, event.at_ms] = None
            if not any(other.call == event.call for other in self._ended.values()):
                first, _ = self._open.pop(event.call, (None, 0.0))
                if first is not None:
                    self._over[event.call] = first

    async def text(self, wanted: Wanted) -> list[tuple[str, str]]:
        """Role and text of every sentence of a call, as it was published last, in their order."""
        found: dict[str, Sentence] = {}
        offset = wanted.first
        while offset < wanted.end and (records := await self._bus.fetch(self._part(SENTENCES.name), offset)):
            for record in records:
                if record.key == wanted.call and record.offset < wanted.end:
                    try:
                        sentence = SENTENCES.decode(record.value)
                    except Unreadable:
                        continue
                    found[sentence.sentence] = sentence
            offset = records[-1].offset + 1
        ordered = sorted(found.values(), key=lambda one: (one.start_ms, one.channel))
        return [(one.role, one.text) for one in ordered]

    def commits(self) -> Mapping[Partition, Commit]:
        now = time.time()
        for call, (_, at) in list(self._open.items()):
            if now - at > SENTENCES.retention_s:  # it never ended, and its sentences are gone
                del self._open[call]
        firsts = [first for first, _ in self._open.values()]
        return {
            self._part(SENTENCES.name): Commit(min(firsts, default=self._next[SENTENCES.name])),
            self._part(CALLS.name): Commit(min(self._ended, default=self._next[CALLS.name])),
        }

    async def close(self) -> None:
        """What nobody has answered, the next owner asks for."""
        for task in self.asking:
            task.cancel()
        await asyncio.gather(*self.asking, return_exceptions=True)

    def _read(self, record: Record) -> CallMetrics | WrittenSummary | None:
        try:
            event = CALLS.decode(record.value)
        except Unreadable:
            return None
        if isinstance(event, WrittenSummary):
            self._written[event.call, event.at_ms] = None
        return event if isinstance(event, CallMetrics | WrittenSummary) else None

    def _part(self, topic: str) -> Partition:
        return Partition(topic, self.number)
