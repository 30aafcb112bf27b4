"""What the stage publishes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from tenor.bus import Record
from tenor.events import Alert, CallMetrics, CallState, Sentence


class DeadRecord(NamedTuple):
    """A record that cannot be read or analyzed, and why."""

    record: Record
    reason: str


@dataclass(slots=True)
class StageOutput:
    """In the order of publication, by topic."""

    sentences: list[Sentence] = field(default_factory=list)
    on_calls: list[Alert | CallMetrics | CallState] = field(default_factory=list)
    dead: list[DeadRecord] = field(default_factory=list)

    @property
    def alerts(self) -> list[Alert]:
        return [event for event in self.on_calls if isinstance(event, Alert)]

    def add(self, other: StageOutput) -> None:
        self.sentences += other.sentences
        self.on_calls += other.on_calls
        self.dead += other.dead
