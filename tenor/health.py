"""Whether this process is alive, and whether it is ready: what orchestrators ask on the metrics port.

    alive    the event loop turns; if it does not, only a restart helps
    ready    no stage waits for anything that it cannot work without: the bus, the database, the recogniser, its models

What is away is waited for, not restarted for: a process that is not ready is alive.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import NamedTuple

import structlog
from prometheus_client import Gauge

from tenor.errors import TenorError

log = structlog.get_logger(__name__)

READY = Gauge("tenor_ready", "1 if the stage waits for nothing that it cannot work without", ["stage"])
Check = Callable[[], Awaitable[str]]
"""Says what is waited for; empty: nothing."""
EVERY_S, IMPATIENT_S = 5.0, 1.0
"""Between two checks that nothing is wrong with, and while something is."""
STALE_S = 15.0
"""A check that has not come back for so long says that nobody answers."""
BEAT_S, FROZEN_S = 0.25, 60.0


class _Answer(NamedTuple):
    waits_for: str
    at: float


class Health:
    """Written by the event loop, read by the threads that serve it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._answers: dict[str, _Answer] = {}
        self._beat: float | None = None
        self.stopping = False

    @property
    def alive(self) -> bool:
        """Also before the first beat: settings are read and models loaded then."""
        return self._beat is None or self._clock() - self._beat < FROZEN_S

    def waits(self) -> dict[str, str]:
        """What each stage waits for; empty: the process is ready."""
        if self._beat is None or self.stopping:
            return {"process": "it stops" if self.stopping else "it starts"}
        late = self._clock() - STALE_S
        found = {name: one.waits_for if one.at > late else "an answer" for name, one in self._answers.items()}
        return {name: waits_for for name, waits_for in found.items() if waits_for}

    async def watch(self, checks: Mapping[str, Check]) -> None:
        """Ask all of them, until cancelled. The log says when the process becomes ready, and when it is so no more."""
        self.stopping = False
        self._answers = {name: _Answer("it starts", self._clock()) for name in checks}
        for name in checks:
            READY.labels(name).set_function(partial(self._is_ready, name))
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._tell(list(checks)))
                for name, check in checks.items():
                    group.create_task(self._ask(name, check))
        finally:
            self._beat = None

    def _is_ready(self, name: str) -> float:
        return float(not self.waits().keys() & {name, "process"})

    async def _ask(self, name: str, check: Check) -> None:
        while True:
            try:
                waits_for = await check()
            except TenorError as error:
                waits_for = error.message
            except Exception as error:  # a check that fails must not end what it looks at
                waits_for = f"{type(error).__name__}: {error}"
            self._answers[name] = _Answer(waits_for, self._clock())
            await asyncio.sleep(IMPATIENT_S if waits_for else EVERY_S)

    async def _tell(self, stages: list[str]) -> None:
        ready = False
        while True:
            self._beat = self._clock()
            waits = self.waits()
            if ready == bool(waits) and not self.stopping:
                ready = not waits
                if ready:
                    log.info("ready", stages=stages)
                else:
                    log.warning("not ready", waits_for=waits)
            await asyncio.sleep(BEAT_S)


HEALTH = Health()
"""Of this process, as the Prometheus registry is."""
