"""One partition of the audio topic being heard: its calls, and how far it may be committed.

A commit is the offset of the oldest audio of any channel that is not written down, with a note from
where a successor has to read what was published (recovery.py). Calls that are over stay in mind until
the commit has passed their last record: a successor would read them again.

    audio     a1 b1 a2 b2 a3 bE a4 ...     b is over, but a2 is not written down:
                    ^ commit               the note still leads to the states of b
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass

import msgspec
import structlog

from asr import metrics
from asr.bench import Bench
from asr.call import HeardCall
from asr.ledger import Ledger
from asr.pages import Pages
from asr.recovery import Findings
from asr.reel import flaw, length_ms
from tenor.bus import Commit, Partition, Record
from tenor.bus.dead import dead_letter
from tenor.bus.handover import Handover
from tenor.events import AUDIO, AUDIO_STOPPED, DEAD, AudioChunk, Call, CallEnded, CallStarted, Unreadable
from tenor.redaction import mode

log = structlog.get_logger(__name__)

REMEMBERED = 256
"""Calls that are over and of which late audio may come."""


@dataclass(slots=True)
class Over:
    """A call that is over."""

    info: Call
    announced: int
    ledgers: dict[int, Ledger]
    last_offset: int
    revivable: bool
    """Only its audio had stopped: if there is more, it goes on."""


class Desk:
    def __init__(self, bench: Bench, partition: Partition, position: int, end: int, findings: Findings) -> None:
        self.partition = partition
        self.position = position
        """The next offset to be read."""
        self.fault: BaseException | None = None
        self._bench = bench
        self._pages = Pages(bench.bus, partition)
        self._calls: dict[str, HeardCall] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._over: OrderedDict[str, Over] = OrderedDict()
        self._ledgers = findings.ledgers
        self._end = findings.end
        for call, found in findings.calls.items():
            ledgers = self._ledgers.pop(call, {})
            if found.over is None:
                self._open(call, found.info, position, ledgers, found.announced)
            else:
                revivable = found.over.reason == AUDIO_STOPPED
                self._over[call] = Over(found.info, found.announced, ledgers, end - 1, revivable)

    @property
    def calls(self) -> tuple[HeardCall, ...]:
        return tuple(self._calls.values())

    async def take(self, record: Record) -> None:
        """Hand the next record to its channel; never waits for the recogniser."""
        if record.offset < self.position:
            return
        reason = ""
        try:
            reason = self._dispatch(AUDIO.decode(record.value), record.offset)
        except Unreadable as error:
            reason = str(error)
        # Only now: a channel that finds itself level must not miss the record it is level with.
        self.position = record.offset + 1
        if reason:
            await self._bury(record, reason)

    async def level(self) -> bool:
        """Whether everything on the partition has been read."""
        _, end = await self._bench.bus.bounds(self.partition)
        return end <= self.position

    async def close(self) -> None:
        """Stop hearing; nothing is published for this partition after it returns."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def commit(self) -> Commit:
        offset = min((call.offset for call in self._calls.values()), default=self.position)
        for call, over in list(self._over.items()):
            if over.last_offset < offset and len(self._over) > REMEMBERED:
                del self._over[call]
        transcripts: list[int] = []
        calls: list[int] = []
        for heard in self._calls.values():
            transcripts += _places(heard.ledgers)
            if heard.announced is not None:
                calls.append(heard.announced)
        for over in self._over.values():
            if over.last_offset >= offset:
                transcripts += _places(over.ledgers)
                calls.append(over.announced)
        for heard in self._calls.values():
            self._remember_end(heard)
        note = Handover(
            min(transcripts, default=self._end.transcripts),
            min(calls, default=self._end.calls),
            reached=min((call.reached for call in self._calls.values()), default=self.position),
        )
        return Commit(offset, note.write())

    # -- records

    def _dispatch(self, event: CallStarted | AudioChunk | CallEnded, offset: int) -> str:
        """Why the event cannot be handled; empty when it was."""
        call = self._calls.get(event.call)
        if isinstance(event, AudioChunk):
            reason = flaw(event)
            if not reason:
                self._hear(call, event, offset)
            return reason
        if isinstance(event, CallStarted):
            if call is not None:
                call.again(offset)
            elif event.call not in self._over:
                self._open(event.call, event.info, offset, self._ledgers.pop(event.call, {}))
            elif offset > self._over[event.call].last_offset:
                log.warning("this call is over; `tenor analyze --store --again` hears it anew", call=event.call)
        elif call is not None:
            call.hang_up(event.reason, failed=event.failed, offset=offset)
        return ""

    def _hear(self, call: HeardCall | None, chunk: AudioChunk, offset: int) -> None:
        if call is None:
            over = self._over.get(chunk.call)
            if over is None:
                call = self._adopt(chunk, offset)
            else:
                over.last_offset = offset
                call = self._revive(over, chunk, offset)
        if call is None or call.end is not None:
            metrics.SKIPPED.inc()
        else:
            call.hear(chunk, offset)

    def _adopt(self, chunk: AudioChunk, offset: int) -> HeardCall:
        """Audio of a call whose beginning is gone from the bus."""
        log.warning("audio of a call whose beginning is unknown", call=chunk.call)
        info = Call(source="unknown", roles=(), started_at=chunk.captured_at - chunk.start_ms / 1000, rate=chunk.rate)
        return self._open(chunk.call, info, offset, self._ledgers.pop(chunk.call, {}))

    def _revive(self, over: Over, chunk: AudioChunk, offset: int) -> HeardCall | None:
        ledger = over.ledgers.get(chunk.channel)
        heard_ms = ledger.heard_ms if ledger is not None and ledger.heard_ms is not None else 0
        if not over.revivable or chunk.start_ms + length_ms(chunk) <= heard_ms:
            return None
        del self._over[chunk.call]
        return self._open(chunk.call, over.info, offset, over.ledgers)

    def _open(
        self, call: str, info: Call, offset: int, ledgers: dict[int, Ledger], announced: int | None = None
    ) -> HeardCall:
        if info.redact is None:
            info = msgspec.structs.replace(info, redact=mode(info, self._bench.speech))
        heard = HeardCall(
            self._bench, self._pages, call, info, offset, lambda: self.position, self.level, ledgers, announced
        )
        self._calls[call] = heard
        task = self._tasks[call] = asyncio.create_task(heard.run(), name=f"call {call}")
        task.add_done_callback(lambda done: self._closed(heard, done))
        return heard

    def _closed(self, call: HeardCall, task: asyncio.Task[None]) -> None:
        if task.cancelled():
            return
        if (fault := task.exception()) is not None:
            self.fault = fault
            return
        del self._calls[call.id], self._tasks[call.id]
        assert call.announced is not None
        revivable = call.end is not None and call.end.reason == AUDIO_STOPPED
        self._over[call.id] = Over(call.info, call.announced, call.ledgers, call.last_offset, revivable)
        self._remember_end(call)

    def _remember_end(self, call: HeardCall) -> None:
        """How far both topics go, as far as we know: where a successor begins who has nothing to look for."""
        self._end = Handover(max(self._end.transcripts, call.transcribed), max(self._end.calls, call.published))

    async def _bury(self, record: Record, reason: str) -> None:
        metrics.DEAD_LETTERS.inc()
        log.warning("a record could not be read", partition=record.partition, offset=record.offset, reason=reason)
        await self._bench.bus.publish(DEAD, dead_letter("asr", record, reason))


def _places(ledgers: dict[int, Ledger]) -> list[int]:
    return [ledger.offset for ledger in ledgers.values() if ledger.offset is not None]
