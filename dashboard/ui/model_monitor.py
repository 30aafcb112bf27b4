"""Which models are in force, and which promoted ones could not be loaded, from the bus and the log of promotions."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tenor.bus import Bus, Partition
from tenor.events import MODELS, ModelLoaded, Unreadable
from tenor.model_store.card import KINDS, Kind
from tenor.model_store.shipped import SHIPPED
from tenor.model_store.store import ModelStore

RECENT_S = 600
"""Who cannot load a model says so every minute; what was said longer ago is over."""


@dataclass(frozen=True, slots=True)
class ModelInForce:
    kind: Kind
    model: str
    since: float | None
    """None: it ships."""
    by: str = ""


class ModelMonitor:
    def __init__(self, models: Path | None) -> None:
        self._store = ModelStore(models)
        self._next: dict[int, int] = {}
        self._loads: dict[tuple[str, str, str], ModelLoaded] = {}
        """The newest word of each process on each model."""

    async def read(self, bus: Bus) -> None:
        """What was said since it last looked."""
        for number in range(await bus.partitions(MODELS)):
            part = Partition(MODELS.name, number)
            while records := await bus.fetch(part, self._next.get(number, 0)):
                self._next[number] = records[-1].offset + 1
                for record in records:
                    with suppress(Unreadable):
                        event = MODELS.decode(record.value)
                        if isinstance(event, ModelLoaded):
                            self._loads[event.stage, event.process, event.model] = event

    def in_force(self) -> list[ModelInForce]:
        """Of each kind; nothing where nothing was ever promoted."""
        self._store.refresh()
        log, now = self._store.log, time.time()
        found = []
        for kind in KINDS if log.promotions else ():
            one = log.in_force(kind, now)
            told = ModelInForce(kind, one.model, one.effective_at, one.by) if one is not None else None
            found.append(told or ModelInForce(kind, SHIPPED[kind].id, None))
        return found

    def failures(self) -> list[ModelLoaded]:
        """Promoted models that somebody cannot load now, newest first."""
        now = time.time()
        failed = [one for one in self._loads.values() if one.reason and now - one.at < RECENT_S]
        return sorted(failed, key=lambda one: -one.at)
