"""Blocking work beside the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


async def in_background(work: Callable[[], T]) -> T:
    """Run `work` on a daemon thread of its own.

    Unlike asyncio.to_thread it never keeps the program from ending: a read from a pipe on which nobody
    writes cannot be interrupted, only left behind.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def deliver(method: Callable[[Any], None], value: object) -> None:
        if not future.done():
            method(value)

    def run() -> None:
        method: Callable[[Any], None] = future.set_result
        value: object
        try:
            value = work()
        except BaseException as error:
            method, value = future.set_exception, error
        try:
            loop.call_soon_threadsafe(deliver, method, value)
        except RuntimeError:
            return  # the loop has been closed; nobody waits any more

    threading.Thread(target=run, daemon=True, name="ingest").start()
    return await future
