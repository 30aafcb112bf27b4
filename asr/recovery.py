"""What a worker that takes over a partition finds out about the calls on it, before it sends the first chunk.

    audio        ...........|c....................|   c: committed, the oldest audio not written down
    transcripts  .....|t..........................|   t, s: from the note of that commit: what lies
    calls        ..|s.............................|         after them tells where each channel stands

Its predecessor may have died at any moment. What it had published counts, committed or not: so nothing
is published twice, and nothing is missing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import msgspec

from asr.position import SPOKEN_ROLE, CallPosition, ChannelPosition
from tenor.bus import Bus, Partition
from tenor.bus.commit_note import CommitNote
from tenor.events import CALLS, TRANSCRIPTS, CallState, Topic, Transcript, Unreadable


@dataclass
class RecoveredCall:
    """One call as its states and transcripts tell it."""

    position: CallPosition
    end: CallState | None = None
    """How it ended; None: it goes on."""


@dataclass
class RecoveredState:
    calls: dict[str, RecoveredCall] = field(default_factory=dict)
    channels: dict[str, dict[int, ChannelPosition]] = field(default_factory=dict)
    """What is written down of calls whose states were not found."""
    end: CommitNote = field(default_factory=CommitNote)
    """Where both topics ended."""


async def recover(bus: Bus, number: int, written: str) -> RecoveredState:
    """From the note of the last commit."""
    note = CommitNote.read(written)
    state = RecoveredState()
    transcripts_end, calls_end = note.transcripts, note.calls
    async for offset, event in _events(bus, CALLS, number, note.calls):
        calls_end = offset + 1
        if isinstance(event, CallState):
            _learn(state, event, offset)
    async for offset, event in _events(bus, TRANSCRIPTS, number, note.transcripts):
        transcripts_end = offset + 1
        if isinstance(event, Transcript) and (event.role == SPOKEN_ROLE or event.written):
            continue
        if (known := state.calls.get(event.call)) is not None:
            known.position.add(event, offset)
        else:
            state.channels.setdefault(event.call, {}).setdefault(event.channel, ChannelPosition()).add(event, offset)
    state.end = CommitNote(transcripts_end, calls_end)
    return state


def _learn(state: RecoveredState, event: CallState, offset: int) -> None:
    known = state.calls.get(event.call)
    if event.state == "live" and event.info is not None and event.info.medium != "voice" and not event.info.rate:
        if known is not None:  # it goes on in writing; without audio it is none of ours
            known.end = msgspec.structs.replace(event, audio_stopped=True)
    elif event.state == "live" and event.info is not None:
        if known is None:
            state.calls[event.call] = RecoveredCall(CallPosition(event.info, live_offset=offset))
        else:
            known.end, known.position.info = None, event.info
    elif event.state in ("ended", "failed") and known is not None:
        known.end = event


async def _events(bus: Bus, topic: Topic, number: int, offset: int) -> AsyncIterator[tuple[int, Any]]:
    partition = Partition(topic.name, number)
    _, end = await bus.bounds(partition)
    while offset < end:
        records = await bus.fetch(partition, offset)
        if not records:
            return
        for record in records:
            offset = record.offset + 1
            with suppress(Unreadable):
                yield record.offset, topic.decode(record.value)
