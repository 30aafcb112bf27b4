"""Workers of a stage on a bus, and both ends of it for a test to hold."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, Protocol, Self

from tenor.bus import Bus
from tenor.bus.opening import open_bus
from tenor.events import Topic
from tenor.settings import Settings
from tests import watching


class RunningWorker(Protocol):
    async def run(self) -> None: ...


@asynccontextmanager
async def at_work(worker: RunningWorker) -> AsyncIterator[asyncio.Task[None]]:
    """A worker that runs inside the block, and is stopped after it."""
    task: asyncio.Task[None] = asyncio.create_task(worker.run())
    try:
        yield task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


class WorkerRig:
    """What the rigs of all stages share; each says how its worker is made."""

    settings: Settings

    def __init__(self) -> None:
        self._running: list[asyncio.Task[None]] = []

    def worker(self) -> RunningWorker:
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        self.bus: Bus = open_bus(self.settings)
        await self.bus.__aenter__()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.stop()
        await self.bus.__aexit__(None, None, None)

    def start(self) -> asyncio.Task[None]:
        task = asyncio.create_task(self.worker().run())
        self._running.append(task)
        return task

    async def stop(self) -> None:
        running, self._running = self._running, []
        for task in running:
            task.cancel()
        for task in running:
            with suppress(asyncio.CancelledError):
                await task

    async def events(self, topic: Topic, call: str = "") -> list[Any]:
        return await watching.events(self.bus, topic, call)

    async def until(self, happened: Callable[[], Any], timeout_s: float = 20.0) -> None:
        await watching.until(happened, *self._running, timeout_s=timeout_s)
