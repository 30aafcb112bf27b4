"""The assistant's stage beside a dashboard that runs as a process of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dialog.flow.loading import SHIPPED
from dialog.fulfilment.types import Action
from tests.dashboard.conftest import House
from tests.dialog.rig import Worker


@contextmanager
def assistant_at_work(house: House, home: Path, *, flows: Path = SHIPPED, **actions: Action) -> Iterator[None]:
    """`actions` take the place of the sample shop's."""
    floor = house.floor
    worker = Worker(home, flows, **actions).make(floor._bus)

    async def start() -> asyncio.Task[None]:
        return asyncio.create_task(worker.run())

    async def stop() -> None:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    running = floor._run(start())
    try:
        yield
    finally:
        floor._run(stop())
