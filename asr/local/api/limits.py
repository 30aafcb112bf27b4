"""The open streams of one kind: how many there may be, and how they end when the server stops."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from asr.local import metrics
from asr.local.errors import busy, unavailable

RETRY_MS = 1000


class StreamLimiter:
    """Counts streams and refuses those over the limit at once: who waits in a queue hears nothing."""

    def __init__(self, limit: int, service: str) -> None:
        self.limit = limit
        self._service = service
        self._open: set[asyncio.Task[object]] = set()
        self._draining = False
        self._empty = asyncio.Event()
        self._empty.set()

    def __len__(self) -> int:
        return len(self._open)

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Keep a place for the running task until the block is left, however it is left."""
        if self._draining:
            raise unavailable("the server is shutting down")
        if len(self._open) >= self.limit:
            metrics.REFUSED.labels(self._service).inc()
            raise busy(f"all {self.limit} streams of this server are in use", RETRY_MS)
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        self._empty.clear()
        try:
            with metrics.STREAMS.labels(self._service).track_inprogress():
                yield
        except asyncio.CancelledError:
            # A client that went away cancels the task as well; only our own cancellation gets an answer.
            if not self._draining or not task.cancelling():
                raise
            task.uncancel()
            raise unavailable("the server is shutting down") from None
        finally:
            self._open.discard(task)
            if not self._open:
                self._empty.set()

    async def drain(self, grace: float) -> None:
        """Let open streams finish for `grace` seconds, then end the rest with UNAVAILABLE."""
        self._draining = True
        try:
            await asyncio.wait_for(self._empty.wait(), grace)
        except TimeoutError:
            for task in tuple(self._open):
                task.cancel()
            await self._empty.wait()
