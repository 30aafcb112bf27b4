"""What a worker that takes over a partition finds out about the calls on it, before it hears the first chunk.

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

from asr.ledger import Ledger
from tenor.bus import Bus, Commit, Partition
from tenor.bus.handover import Handover
from tenor.events import CALLS, TRANSCRIPTS, Call, CallState, Topic, Unreadable


@dataclass
class Found:
    """One call as its states tell it."""

    info: Call
    announced: int
    over: CallState | None = None


@dataclass
class Findings:
    calls: dict[str, Found] = field(default_factory=dict)
    ledgers: dict[str, dict[int, Ledger]] = field(default_factory=dict)
    end: Handover = field(default_factory=Handover)
    """Where both topics ended."""


async def find_out(bus: Bus, number: int, commit: Commit | None) -> Findings:
    note = Handover.read(commit.note) if commit else Handover()
    findings = Findings()
    transcripts_end, calls_end = note.transcripts, note.calls
    async for offset, event in _events(bus, TRANSCRIPTS, number, note.transcripts):
        transcripts_end = offset + 1
        findings.ledgers.setdefault(event.call, {}).setdefault(event.channel, Ledger()).enter(event, offset)
    async for offset, event in _events(bus, CALLS, number, note.calls):
        calls_end = offset + 1
        if isinstance(event, CallState):
            _learn(findings.calls, event, offset)
    findings.end = Handover(transcripts_end, calls_end)
    return findings


def _learn(calls: dict[str, Found], event: CallState, offset: int) -> None:
    known = calls.get(event.call)
    if event.state == "live" and event.info is not None:
        if known is None:
            calls[event.call] = Found(event.info, offset)
        else:
            known.over = None
    elif event.state in ("ended", "failed") and known is not None:
        known.over = event


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
