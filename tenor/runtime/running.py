"""A stage at work for as long as a block lasts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from tenor.stage import Runnable


@asynccontextmanager
async def running(stage: Runnable) -> AsyncIterator[asyncio.Task[None]]:
    """A stage at work inside the block, stopped after it. If it fails, the block ends with its error."""
    block = asyncio.current_task()
    assert block is not None
    task = asyncio.create_task(stage.run(), name=stage.name)
    task.add_done_callback(lambda done: None if done.cancelled() or done.exception() is None else block.cancel())
    try:
        yield task
    finally:
        if task.done() and not task.cancelled() and task.exception() is not None:
            block.uncancel()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def until(event: asyncio.Event, task: asyncio.Task[None]) -> None:
    """Wait for `event`, or raise what `task` died of before it came."""
    waiting = asyncio.create_task(event.wait())
    try:
        await asyncio.wait((waiting, task), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            task.result()
    finally:
        waiting.cancel()
