"""One partition of the audio topic being recognised: its calls, and how far it may be committed.

A commit is the offset of the oldest audio of any channel that is not written down, with a note from
where a successor has to read what was published (recovery.py). Calls that are over stay in mind until
the commit has passed their last record: a successor would read them again.

    audio     a1 b1 a2 b2 a3 bE a4 ...     b is over, but a2 is not written down:
                    ^ commit               the note still leads to the states of b
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from dataclasses import dataclass

import msgspec
import structlog

from asr import metrics
from asr.audio.chunk_reader import flaw, length_ms
from asr.audio.source import AudioSource
from asr.call import AsrCall
from asr.context import AsrContext
from asr.position import CallPosition
from asr.recovery import RecoveredState
from tenor.bus import Commit, Partition, Record
from tenor.bus.commit_note import CommitNote
from tenor.events import AUDIO, AudioChunk, Call, CallEnded, CallStarted, Unreadable
from tenor.redaction import mode
from tenor.redaction.about import without_cards

log = structlog.get_logger(__name__)

MAX_ENDED_CALLS = 256
"""Calls that are over and of which late audio may come."""


@dataclass(slots=True)
class EndedCall:
    """A call that is over."""

    position: CallPosition
    last_offset: int
    """Of its newest record."""
    revivable: bool
    """Only its audio was over: if there is more, it goes on."""


class AudioPartition:
    def __init__(
        self, context: AsrContext, partition: Partition, next_offset: int, end: int, recovered: RecoveredState
    ) -> None:
        self.source = AudioSource(context.bus, partition, next_offset)
        self.fault: BaseException | None = None
        self._context = context
        self._calls: dict[str, AsrCall] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._over: OrderedDict[str, EndedCall] = OrderedDict()
        self._unannounced = recovered.channels
        """What is written down of calls whose states were not found."""
        self._end = recovered.end
        for call, found in recovered.calls.items():
            if found.end is None:
                self._open(call, found.position, next_offset)
            else:
                revivable = found.end.audio_stopped
                self._over[call] = EndedCall(found.position, end - 1, revivable)

    @property
    def calls(self) -> tuple[AsrCall, ...]:
        return tuple(self._calls.values())

    def take(self, record: Record) -> str:
        """Hand the next record to its channel. Why it cannot be handled; empty when it was."""
        reason = ""
        try:
            reason = self._dispatch(AUDIO.decode(record.value), record.offset)
        except Unreadable as error:
            reason = str(error)
        # Only now: a channel that finds itself level must not miss the record it is level with.
        self.source.next_offset = record.offset + 1
        return reason

    async def close(self) -> None:
        """Stop recognising; nothing is published for this partition after it returns."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def commits(self) -> dict[Partition, Commit]:
        offset = min((call.resume_offset for call in self._calls.values()), default=self.source.next_offset)
        for call, over in list(self._over.items()):
            if over.last_offset < offset and len(self._over) > MAX_ENDED_CALLS:
                del self._over[call]
        transcripts: list[int] = []
        calls: list[int] = []
        needed = [call.position for call in self._calls.values()]
        needed += [over.position for over in self._over.values() if over.last_offset >= offset]
        for position in needed:
            transcripts += position.transcript_offsets()
            if position.live_offset is not None:
                calls.append(position.live_offset)
        for open_call in self._calls.values():
            self._remember_end(open_call)
        note = CommitNote(
            min(transcripts, default=self._end.transcripts),
            min(calls, default=self._end.calls),
            reached=min((call.next_offset for call in self._calls.values()), default=self.source.next_offset),
        )
        return {self.source.partition: Commit(offset, note.write())}

    # -- records

    def _dispatch(self, event: CallStarted | AudioChunk | CallEnded, offset: int) -> str:
        """Why the event cannot be handled; empty when it was."""
        call = self._calls.get(event.call)
        if isinstance(event, AudioChunk):
            reason = flaw(event)
            if not reason:
                self._add(call, event, offset)
            return reason
        if isinstance(event, CallStarted):
            if call is not None:
                call.touch(offset)
                call.renew(event.info)
            elif (over := self._over.get(event.call)) is None:
                self._open(event.call, self._new_position(event.call, event.info), offset)
            elif offset <= over.last_offset:
                pass  # read again
            elif over.revivable:
                del self._over[event.call]
                self._open(event.call, over.position.reopened(event.info), offset)
            else:
                log.warning("this call is over; `tenor analyze --store --again` hears it anew", call=event.call)
        elif call is not None:
            call.hang_up(event, offset)
        return ""

    def _add(self, call: AsrCall | None, chunk: AudioChunk, offset: int) -> None:
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
            call.add(chunk, offset)

    def _adopt(self, chunk: AudioChunk, offset: int) -> AsrCall:
        """Audio of a call whose beginning is gone from the bus."""
        log.warning("audio of a call whose beginning is unknown", call=chunk.call)
        started_at = (chunk.captured_at or time.time()) - chunk.start_ms / 1000
        info = Call(source="unknown", roles=(), started_at=started_at, rate=chunk.rate)
        return self._open(chunk.call, self._new_position(chunk.call, info), offset)

    def _revive(self, over: EndedCall, chunk: AudioChunk, offset: int) -> AsrCall | None:
        channel = over.position.channels.get(0 if over.position.shared else chunk.channel)
        heard_ms = channel.heard_ms if channel is not None and channel.heard_ms is not None else 0
        if not over.revivable or chunk.start_ms + length_ms(chunk) <= heard_ms:
            return None
        del self._over[chunk.call]
        return self._open(chunk.call, over.position.reopened(over.position.info), offset)

    def _new_position(self, call: str, info: Call) -> CallPosition:
        return CallPosition(info, self._unannounced.pop(call, {}))

    def _open(self, call_id: str, position: CallPosition, offset: int) -> AsrCall:
        info = position.info
        redact = mode(info, self._context.speech)
        position.info = msgspec.structs.replace(without_cards(info, redact), redact=redact)
        call = self._calls[call_id] = AsrCall(self._context, self.source, call_id, position, offset)
        task = self._tasks[call_id] = asyncio.create_task(call.run(), name=f"call {call_id}")
        task.add_done_callback(lambda done: self._closed(call, done))
        return call

    def _closed(self, call: AsrCall, task: asyncio.Task[None]) -> None:
        if task.cancelled():
            return
        if (fault := task.exception()) is not None:
            self.fault = fault
            return
        del self._calls[call.id], self._tasks[call.id]
        revivable = call.end is not None and call.end.revivable
        self._over[call.id] = EndedCall(call.position, call.last_offset, revivable)
        self._remember_end(call)

    def _remember_end(self, call: AsrCall) -> None:
        """How far both topics go, as far as we know: where a successor begins who has nothing to look for."""
        self._end = CommitNote(max(self._end.transcripts, call.transcripts_end), max(self._end.calls, call.calls_end))
