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
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from storage.spool import Spool
from tenor.bus import Commit, Partition, Record
from tenor.bus.handover import Handover
from tenor.events import (
    AUDIO,
    AUDIO_STOPPED,
    AudioChunk,
    Call,
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


@dataclass(slots=True)
class InHand:
    """A call being recorded."""

    id: str
    spool: Spool
    info: Call | None = None
    source_failed: bool = False
    """Its source broke, which is known from the audio topic. What was heard until then is all there is."""
    spans: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    over: CallState | None = None
    marks: dict[str, int] = field(default_factory=dict)
    """Offsets to read up to before it is finished."""
    due: float = 0.0
    touched: float = 0.0
    first: dict[str, int] = field(default_factory=dict)
    """By topic, the offset of its first record."""

    @property
    def has_audio(self) -> bool:
        """Whether it was ever on the audio topic: conversations in writing are not."""
        return AUDIO.name in self.first

    def may_be_kept(self) -> bool:
        if self.info is None or not self.info.record or self.spool.empty:
            return False
        # Not heard to the end, so not all that is to be silenced is known.
        unheard = self.over is None or (self.over.state == "failed" and not self.source_failed)
        return not (unheard and self.info.redact == "audio")

    def silenced(self) -> dict[int, list[tuple[int, int]]]:
        return self.spans if self.info is not None and self.info.redact == "audio" else {}


class Deck:
    def __init__(self, number: int, positions: dict[str, int], folder: Path, grace_s: float) -> None:
        self.number = number
        self.positions = positions
        """By topic, the next offset to be read."""
        self._folder = folder
        self._grace_s = grace_s
        self._calls: dict[str, InHand] = {}
        self._done: OrderedDict[str, None] = OrderedDict()
        self._spools = 0

    def strangers(self, events: Iterable[Event]) -> set[str]:
        """Calls of these events of which it is not known here whether they are done."""
        calls = {event.call for event in events if _matters(event)}
        return {call for call in calls if call not in self._calls and call not in self._done}

    def forget(self, call: str) -> None:
        """The call is done, or not to be recorded."""
        if held := self._calls.pop(call, None):
            held.spool.close()
        self._done[call] = None
        while len(self._done) > REMEMBERED:
            self._done.popitem(last=False)

    def take(self, record: Record, event: Event | None) -> None:
        """The next record of one of the topics. May be done again with the same one."""
        if event is not None and event.call not in self._done and _matters(event):
            call = self._calls.get(event.call) or self._open(event.call)
            call.first.setdefault(record.topic, record.offset)
            call.touched = time.monotonic()
            self._note(call, event)
        self.positions[record.topic] = max(self.positions[record.topic], record.offset + 1)

    def awaiting_marks(self) -> list[InHand]:
        """Calls that are over, of which is not known yet how far to read on."""
        return [call for call in self._calls.values() if call.over is not None and not call.marks]

    def finished(self) -> list[InHand]:
        """Calls that are over and of which everything has been read."""
        now = time.monotonic()
        return [
            call
            for call in self._calls.values()
            if call.marks
            and now >= call.due
            and all(self.positions[topic] >= mark for topic, mark in call.marks.items())
        ]

    def abandoned(self) -> list[InHand]:
        """Calls of which nothing came for as long as the bus keeps audio: their end will not come either."""
        limit = time.monotonic() - AUDIO.retention_s
        return [call for call in self._calls.values() if call.touched < limit]

    def commits(self) -> dict[Partition, Commit]:
        oldest = dict(self.positions)
        for call in self._calls.values():
            for topic, offset in call.first.items():
                oldest[topic] = min(oldest[topic], offset)
        return {
            Partition(topic, self.number): Commit(offset, Handover(reached=self.positions[topic]).write())
            for topic, offset in oldest.items()
        }

    def close(self) -> None:
        for call in self._calls.values():
            call.spool.close()
        self._calls.clear()

    def _open(self, call: str) -> InHand:
        self._spools += 1
        held = self._calls[call] = InHand(call, Spool(self._folder / f"{self.number}-{self._spools}"))
        return held

    def _note(self, call: InHand, event: Event) -> None:
        match event:
            case AudioChunk():
                call.spool.add(event)
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
                call.due = time.monotonic() + self._grace_s if event.reason == AUDIO_STOPPED else 0.0


def _matters(event: Event) -> bool:
    match event:
        case Transcript(final=True, redacted=redacted):
            return bool(redacted)
        case CallState(state="live", info=info):
            return info is not None and info.medium == "voice"
        case CallState(state=state):
            return state in ("ended", "failed")
    return isinstance(event, CallStarted | AudioChunk | CallEnded)
