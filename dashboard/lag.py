"""How far each stage is behind on the bus, measured while somebody looks."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import defaultdict, deque
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Literal

from tenor.bus import Bus
from tenor.bus.opening import open_bus
from tenor.settings import Settings
from tenor.stage import READS

KEPT_S = 600
STUCK_S = 30
"""Something waits and nothing has moved for so long: the stage is not running, or cannot go on."""
EVERY_S = 1.0
Condition = Literal["up to date", "working", "stuck", "not known"]


@dataclass(frozen=True, slots=True)
class Lag:
    stage: str
    waiting: int
    """Records on the bus that it has not finished with; those of calls going on are among them."""
    condition: Condition
    past: tuple[tuple[float, int], ...]
    """Moments and what waited then."""


class LagWatch:
    """One a process. Has a thread with an event loop of its own, since pages have none."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._loop = asyncio.new_event_loop()
        self._lock = threading.Lock()
        self._bus: Bus | None = None
        self._past: dict[str, deque[tuple[float, int]]] = defaultdict(lambda: deque(maxlen=int(KEPT_S / EVERY_S)))
        self._looked = 0.0
        threading.Thread(target=self._loop.run_forever, daemon=True, name="lag").start()

    def look(self) -> list[Lag]:
        """Measured at most once a second, however many look. Raises a TenorError when the bus is not there."""
        with self._lock:
            if time.time() - self._looked >= EVERY_S:
                self._run(self._measure())
                self._looked = time.time()
            return [Lag(stage, past[-1][1], condition(past), tuple(past)) for stage, past in self._past.items()]

    async def _measure(self) -> None:
        if self._bus is None:
            bus = open_bus(self._settings)
            await bus.__aenter__()
            self._bus = bus
        now = time.time()
        for stage, topics in READS.items():
            lag = await self._bus.lag(topics, stage)
            self._past[stage].append((now, sum(lag.values())))

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(15)


def condition(past: deque[tuple[float, int]]) -> Condition:
    """From what waited lately."""
    if not past:
        return "not known"
    now, waiting = past[-1]
    if waiting == 0:
        return "up to date"
    lately = [count for at, count in past if now - at <= STUCK_S]
    long_enough = now - past[0][0] >= STUCK_S
    return "stuck" if long_enough and min(lately) == lately[0] and waiting >= lately[0] else "working"
