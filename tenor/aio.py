"""Steps that a cancellation does not tear apart: a publication and the note of it, work in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def run_to_completion(step: Coroutine[Any, Any, T]) -> T:
    """Run `step` to its end even if we are cancelled meanwhile; the cancellation follows after it.

    Torn apart, an event could lie on the bus without our knowing, and be published again."""
    task = asyncio.ensure_future(step)
    cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                raise
            cancelled = True
        except Exception:
            break
    if cancelled:
        if not task.cancelled():
            task.exception()  # retrieved: the cancellation is what counts now
        raise asyncio.CancelledError
    return task.result()


async def in_thread(work: Callable[[], T]) -> T:
    """Run `work` in a thread. Cancelled, it still waits for the thread: nothing may be closed under its feet."""
    return await run_to_completion(asyncio.to_thread(work))
