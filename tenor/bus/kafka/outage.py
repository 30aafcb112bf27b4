"""Kafka that is away: told once when it is lost, now and then, and once when it is back; and since when it is.

aiokafka tries again by itself, for ever, and writes lines about every attempt: thousands a minute. Each of them has us
ask at once; what it complains of is told unless the answer is that Kafka is away, which we say ourselves.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Self

import structlog
from aiokafka import errors

log = structlog.get_logger(__name__)

EVERY_S, AWAY_S = 2.0, 0.5
"""Between two questions, and while nobody answers."""
ANSWER_S = 10.0
TRIES = 3
"""One broker of several may be away."""
TOLD_S = 30.0
SETTLED_S = 10.0
"""After its return, complaints of the outage still come in for so long."""
MOST = 20

_library = logging.getLogger("aiokafka")
_library.addHandler(logging.NullHandler())  # or Python would print its lines while no bus is open
_library.propagate = False


class OutageWatch(logging.Handler):
    def __init__(self, servers: str, patience_s: float, ask: Callable[[], Awaitable[object]]) -> None:
        super().__init__(logging.WARNING)
        self._servers, self._patience_s, self._ask = servers, patience_s, ask
        self._since: float | None = None
        self._told = self._back = 0.0
        self._complaints: list[logging.LogRecord] = []
        self._complained = asyncio.Event()

    @property
    def over(self) -> bool:
        """Whether patience has run out."""
        return self._since is not None and time.monotonic() - self._since > self._patience_s

    def emit(self, record: logging.LogRecord) -> None:
        if len(self._complaints) < MOST:
            self._complaints.append(record)
            self._complained.set()

    async def __aenter__(self) -> Self:
        _library.addHandler(self)
        self._watching = asyncio.create_task(self._watch(), name="Kafka's outages")
        return self

    async def __aexit__(self, *exc: object) -> None:
        _library.removeHandler(self)
        self._watching.cancel()
        await asyncio.wait([self._watching])

    async def _watch(self) -> None:
        while True:
            began = time.monotonic()
            if await self._answers():
                self._found()
            else:
                self._lost(began)
            self._complaints.clear()
            self._complained.clear()
            await asyncio.sleep(AWAY_S)
            if self._since is None:
                with suppress(TimeoutError):
                    async with asyncio.timeout(EVERY_S):
                        await self._complained.wait()

    async def _answers(self) -> bool:
        for _ in range(TRIES):
            try:
                async with asyncio.timeout(min(ANSWER_S, self._patience_s / 2)):
                    await self._ask()
                return True
            except TimeoutError:
                return False
            except errors.KafkaError as error:
                if not error.retriable:
                    return True  # whatever it says, somebody is there
            await asyncio.sleep(AWAY_S / TRIES)
        return False

    def _lost(self, began: float) -> None:
        now = time.monotonic()
        if self._since is None:
            self._since = began
            log.warning("Kafka is away", servers=self._servers, patience_s=self._patience_s)
        elif now - self._told < TOLD_S:
            return
        else:
            log.warning("Kafka is still away", servers=self._servers, for_s=round(now - self._since))
        self._told = now

    def _found(self) -> None:
        now = time.monotonic()
        if self._since is not None:
            log.warning("Kafka is back", servers=self._servers, after_s=round(now - self._since))
            self._since, self._back = None, now
        elif now - self._back > SETTLED_S:
            for record in self._complaints:
                logging.getLogger().handle(record)
