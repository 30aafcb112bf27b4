"""One partition being recorded: its calls in hand, and how far each topic may be committed.

A call is in hand from its first record on any topic until its recording lies where it belongs. Audio, transcripts and
states are read each at its own pace, so when a call's end is known, the recorder still reads on to where the other two
topics were at that moment: then it has every chunk and every stretch to be silenced.

    audio         s1 a1 a1 s2 a2 a1 a2 e1 a2 |       call 1 is finished when `ended` has been read and both marks
    transcripts   t1 t1 t2 t1 |                      are passed; then commits go to the first records of call 2
    states        l1 l2 ended1
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

import structlog

from storage.recorder.audio_buffer import AudioBuffer
from storage.recorder.call import CallRecording
from tenor.bounded_dict import BoundedDict
from tenor.bus import Commit, Partition, Record
from tenor.bus.commit_note import CommitNote
from tenor.bus.partitioned import Takeover
from tenor.events import (
    AUDIO,
    AudioChunk,
    CallEnded,
    CallStarted,
    CallState,
    Event,
    Transcript,
)
from tenor.stage import READS

log = structlog.get_logger(__name__)

TOPICS = {topic.name: topic for topic in READS["recordings"]}
REMEMBERED = 10_000
"""Calls that are done, so that late records do not ask the database again."""


class RecordingPartition:
    def __init__(self, taken: Takeover, folder: Path, grace_s: float) -> None:
        self.number = taken.number
        self.positions = taken.positions
        """By topic, the next offset to be read."""
        self._folder = folder
        self._grace_s = grace_s
        self._calls: dict[str, CallRecording] = {}
        self._done: BoundedDict[str, None] = BoundedDict(REMEMBERED)
        self._buffers = 0

    def strangers(self, events: Iterable[Event]) -> set[str]:
        """Calls of these events of which it is not known here whether they are done."""
        calls = {event.call for event in events if _matters(event)}
        return {call for call in calls if call not in self._calls and call not in self._done}

    def forget(self, call: str) -> None:
        """The call is done, or not to be recorded."""
        if held := self._calls.pop(call, None):
            held.buffer.close()
        self._done[call] = None

    def take(self, record: Record, event: Event | None) -> None:
        """The next record of one of the topics. May be done again with the same one."""
        if event is not None and event.call not in self._done and _matters(event):
            call = self._calls.get(event.call) or self._open(event.call)
            call.first.setdefault(record.topic, record.offset)
            call.touched = time.monotonic()
            self._note(call, event)
        self.positions[record.topic] = max(self.positions[record.topic], record.offset + 1)

    def awaiting_marks(self) -> list[CallRecording]:
        """Calls that are over, of which is not known yet how far to read on."""
        return [call for call in self._calls.values() if call.over is not None and not call.marks]

    def finished(self) -> list[CallRecording]:
        """Calls that are over and of which everything has been read."""
        now = time.monotonic()
        return [
            call
            for call in self._calls.values()
            if call.marks
            and now >= call.due
            and all(self.positions[topic] >= mark for topic, mark in call.marks.items())
        ]

    def abandoned(self) -> list[CallRecording]:
        """Calls of which nothing came for as long as the bus keeps audio: their end will not come either."""
        limit = time.monotonic() - AUDIO.retention_s
        return [call for call in self._calls.values() if call.touched < limit]

    def commits(self) -> dict[Partition, Commit]:
        oldest = dict(self.positions)
        for call in self._calls.values():
            for topic, offset in call.first.items():
                oldest[topic] = min(oldest[topic], offset)
        return {
            Partition(topic, self.number): Commit(offset, CommitNote(reached=self.positions[topic]).write())
            for topic, offset in oldest.items()
        }

    async def close(self) -> None:
        """Whoever has the partition next hears the calls in hand from their beginning."""
        for call in self._calls.values():
            call.buffer.close()

    def _open(self, call: str) -> CallRecording:
        self._buffers += 1
        held = self._calls[call] = CallRecording(call, AudioBuffer(self._folder / f"{self.number}-{self._buffers}"))
        return held

    def _note(self, call: CallRecording, event: Event) -> None:
        match event:
            case AudioChunk():
                call.buffer.add(event)
                call.due = time.monotonic() + self._grace_s if call.due else 0.0
            case CallStarted(info=info):
                call.info = call.info or info
            case CallEnded(failed=failed):
                call.source_failed |= failed
            case Transcript(channel=channel, redacted=redacted):
                spans = call.spans.setdefault(channel, [])
                spans += [span for found in redacted if (span := (found.start_ms, found.end_ms)) not in spans]
            case CallState(state="live", info=info):
                call.info = info or call.info
                call.over, call.marks, call.due = None, {}, 0.0  # again, after its audio had stopped
            case CallState():
                call.over, call.marks = event, {}
                call.due = time.monotonic() + self._grace_s if event.audio_stopped else 0.0


def _matters(event: Event) -> bool:
    match event:
        case Transcript(final=True, redacted=redacted):
            return bool(redacted)
        case CallState(state="live", info=info):
            return info is not None and info.medium == "voice"
        case CallState(state=state):
            return state in ("ended", "failed")
    return isinstance(event, CallStarted | AudioChunk | CallEnded)
