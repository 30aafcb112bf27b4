"""How far each stage is behind on the bus, measured while somebody looks."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from dashboard.ui.model_monitor import ModelMonitor
from tenor.bus import Bus, Partition, Progress
from tenor.bus.opening import open_bus
from tenor.settings import Settings
from tenor.stage import READS

KEPT = 600
STUCK_S = 30
"""Something is there to be read and nothing has been for so long: the stage runs, but cannot go on."""
LOOKED_AWAY_S = 5
"""Nobody looked for so long: what happened meanwhile is not known."""
EVERY_S = 1.0
Condition = Literal["nothing waiting", "working", "stuck", "not running", "not known"]


@dataclass(frozen=True, slots=True)
class Lag:
    stage: str
    waiting: int
    """Records on the bus that it has not come to yet."""
    condition: Condition
    past: tuple[tuple[float, int], ...]
    """Moments and what waited then."""


class StageMonitor:
    """What was seen of one stage. A partition that stands still is noticed although the others go on."""

    def __init__(self, stage: str) -> None:
        self._stage = stage
        self._past: deque[tuple[float, int]] = deque(maxlen=KEPT)
        self._reached: dict[Partition, int] = {}
        self._moved: dict[Partition, float] = {}
        """When each was last seen to go on, or to have nothing to do."""
        self._workers = 0

    def record(self, now: float, progress: Mapping[Partition, Progress], workers: int = 1) -> None:
        self._workers = workers
        looked_away = not self._past or now - self._past[-1][0] > LOOKED_AWAY_S
        for partition, at in progress.items():
            if looked_away or not at.unread or at.reached != self._reached.get(partition):
                self._moved[partition] = now
            self._reached[partition] = at.reached
        self._past.append((now, sum(at.unread for at in progress.values())))

    def lag(self) -> Lag:
        if not self._past:
            return Lag(self._stage, 0, "not known", ())
        now, waiting = self._past[-1]
        return Lag(self._stage, waiting, self._condition(now, waiting), tuple(self._past))

    def _condition(self, now: float, waiting: int) -> Condition:
        if not self._workers:
            return "not running"
        if any(now - moved >= STUCK_S for moved in self._moved.values()):
            return "stuck"
        return "working" if waiting else "nothing waiting"


class LagMonitor:
    """One a process. Has a thread with an event loop of its own, since pages have none."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._loop = asyncio.new_event_loop()
        self._lock = threading.Lock()
        self._bus: Bus | None = None
        self.models = ModelMonitor(settings.models_folder)
        """What is known with the last measurement."""
        written = bool(settings.language.summary_url)  # without it nobody misses the stage
        self._stages = {stage: StageMonitor(stage) for stage in READS if stage != "summaries" or written}
        self._measured_at = 0.0
        threading.Thread(target=self._loop.run_forever, daemon=True, name="lag").start()

    def measure(self) -> list[Lag]:
        """Measured at most once a second, however many look. Raises a TenorError when the bus is not there."""
        with self._lock:
            if time.time() - self._measured_at >= EVERY_S:
                self._run(self._read())
                self._measured_at = time.time()
            return [stage.lag() for stage in self._stages.values()]

    async def _read(self) -> None:
        if self._bus is None:
            bus = open_bus(self._settings)
            await bus.__aenter__()
            self._bus = bus
        now = time.time()
        for stage, monitor in self._stages.items():
            monitor.record(now, await self._bus.progress(READS[stage], stage), await self._bus.members(stage))
        await self.models.read(self._bus)

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(15)
