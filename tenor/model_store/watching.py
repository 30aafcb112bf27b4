"""A process that keeps an eye on promotions: woken by the bus, and looking by itself, for the log is the truth."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from tenor.aio import in_thread
from tenor.bus import Bus
from tenor.events import MODELS, ModelLoaded
from tenor.model_store.pool import ModelPool

LOOK_S = 1.0
"""How often the log is looked at."""
AT_ONCE = 100


async def watch_promotions(pools: Sequence[ModelPool[Any]], bus: Bus, stage: str) -> None:
    """Load what is promoted before it counts, and tell the bus; until cancelled."""
    if not pools:  # nothing here is ever promoted
        await asyncio.Event().wait()
    process = f"{socket.gethostname()}:{os.getpid()}"
    async with bus.follower([MODELS]) as follower:
        while True:
            for pool in pools:
                await in_thread(pool.prepare)
                reports, pool.reports = pool.reports, []
                if reports:
                    told = [
                        ModelLoaded(
                            call="", kind=one.kind, model=one.model, stage=stage, process=process, at=one.at,
                            reason=one.reason,
                        )
                        for one in reports
                    ]  # fmt: skip
                    await bus.publish_many(MODELS, told)
            await follower.poll(AT_ONCE, LOOK_S)


@asynccontextmanager
async def watching_promotions(
    pools: Sequence[ModelPool[Any]], bus: Bus, stage: str
) -> AsyncIterator[asyncio.Task[None]]:
    """While the block lasts. If the watch fails, whoever holds the task finds out."""
    task = asyncio.create_task(watch_promotions(pools, bus, stage), name=f"{stage} promotions")
    try:
        yield task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
