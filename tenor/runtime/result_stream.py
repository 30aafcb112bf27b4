"""Results as they come: from a task of their own, and for programs that know nothing of asyncio."""

from __future__ import annotations

import asyncio
import concurrent.futures
import queue
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")
P = TypeVar("P")


@dataclass(frozen=True)
class _Result(Generic[T]):
    result: T


@dataclass(frozen=True)
class _ProgressReport(Generic[P]):
    progress: P


@dataclass(frozen=True)
class _End:
    error: BaseException | None = None


async def in_own_task(results: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    """The same results, made in a task of their own.

    A stage that fails cancels the task that runs it: that must not be the reader's, which may be waiting for something
    else at that moment. At most one result is made ahead."""
    made: asyncio.Queue[_Result[T] | _End] = asyncio.Queue()
    room = asyncio.Semaphore(1)

    async def make() -> None:
        try:
            async with aclosing(results):
                async for result in results:
                    made.put_nowait(_Result(result))
                    await room.acquire()
        finally:
            made.put_nowait(_End())

    making = asyncio.create_task(make())
    try:
        while isinstance(item := await made.get(), _Result):
            yield item.result
            room.release()
        await making
    finally:
        making.cancel()
        await asyncio.wait((making,))
        if not making.cancelled():
            making.exception()  # retrieved: it was raised above, or nobody reads any more


class BlockingStream(Generic[T, P]):
    """Async results for a plain `for` loop. They are made on an event loop of their own in a thread of its own, so it
    works inside a notebook, too, which has a loop already; what is told of the progress is told in the reader's thread.

    When the reader stops early or is interrupted, the work is cancelled and has cleaned up before the reader goes on.
    """

    def __init__(self, callback: Callable[[P], None] | None = None) -> None:
        self._callback = callback
        self._items: queue.SimpleQueue[_Result[T] | _ProgressReport[P] | _End] = queue.SimpleQueue()

    def tell(self, progress: P) -> None:
        """To be called by the work."""
        if self._callback:
            self._items.put(_ProgressReport(progress))

    def read(self, results: AsyncGenerator[T, None]) -> Generator[T, None, None]:
        loop, room = asyncio.new_event_loop(), asyncio.Semaphore(0)
        started: concurrent.futures.Future[asyncio.Task[None]] = concurrent.futures.Future()

        async def make() -> None:
            task = asyncio.current_task()
            assert task is not None
            started.set_result(task)
            async with aclosing(results):
                async for result in results:
                    self._items.put(_Result(result))
                    await room.acquire()

        def work() -> None:
            ended = _End()
            try:
                with asyncio.Runner(loop_factory=lambda: loop) as runner:
                    runner.run(make())
            except BaseException as error:
                ended = _End(error)
            started.cancel()  # if it did not even start
            self._items.put(ended)

        thread = threading.Thread(target=work, name="tenor", daemon=True)
        thread.start()
        try:
            while not isinstance(item := self._items.get(), _End):
                if isinstance(item, _Result):
                    yield item.result
                    loop.call_soon_threadsafe(room.release)
                elif self._callback:
                    self._callback(item.progress)
            if item.error:
                raise item.error
        finally:
            with suppress(RuntimeError, concurrent.futures.CancelledError):  # it is over already
                loop.call_soon_threadsafe(started.result().cancel)
            thread.join()
