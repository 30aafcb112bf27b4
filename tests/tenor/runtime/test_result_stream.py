"""Results for whoever reads them: what goes wrong is raised to the reader, and nothing goes on behind their back."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from tenor.errors import TenorError, Unavailable
from tenor.runtime.result_stream import BlockingStream, in_own_task
from tenor.runtime.running import running


class Numbers:
    """Makes numbers, and knows how many were made and whether it was left in order."""

    def __init__(self, count: int, error: Exception | None = None) -> None:
        self._count, self._error = count, error
        self.made = 0
        self.closed = False

    async def __call__(self) -> AsyncGenerator[int, None]:
        try:
            for number in range(self._count):
                await asyncio.sleep(0)
                self.made += 1
                yield number
            if self._error:
                raise self._error
        finally:
            await asyncio.sleep(0.02)  # as stages do, which hand over what they have
            self.closed = True


class Failing:
    """A stage that fails once it is told to."""

    name = "failing"

    def __init__(self) -> None:
        self.fail = asyncio.Event()

    async def run(self) -> None:
        await self.fail.wait()
        raise Unavailable("the disk is gone")


async def test_all_results_come_and_then_the_error() -> None:
    numbers = Numbers(3, TenorError("no more"))
    results = in_own_task(numbers())
    assert [await anext(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(TenorError, match="no more"):
        await anext(results)
    assert numbers.closed


async def test_no_more_than_one_result_is_made_ahead() -> None:
    numbers = Numbers(50)
    async with aclosing(in_own_task(numbers())) as results:
        async for number in results:
            await asyncio.sleep(0.005)
            assert numbers.made <= number + 2


async def test_leaving_early_ends_the_work() -> None:
    numbers = Numbers(50)
    async with aclosing(in_own_task(numbers())) as results:
        async for _ in results:
            break
    assert numbers.closed


async def test_cancelling_the_reader_ends_the_work() -> None:
    numbers = Numbers(50)

    async def read() -> None:
        async with aclosing(in_own_task(numbers())) as results:
            async for _ in results:
                await asyncio.sleep(60)

    task = asyncio.create_task(read())
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert numbers.closed


async def test_a_stage_that_fails_is_told_where_results_are_read_and_nowhere_else() -> None:
    stage = Failing()

    async def results() -> AsyncGenerator[int, None]:
        async with running(stage):
            yield 1
            await asyncio.sleep(60)

    stream = in_own_task(results())
    assert await anext(stream) == 1
    stage.fail.set()
    await asyncio.sleep(0.05)  # the reader does something else and must not be cancelled in it
    with pytest.raises(Unavailable, match="the disk is gone"):
        await anext(stream)


def test_a_plain_loop_reads_all_and_then_the_error() -> None:
    numbers = Numbers(3, TenorError("no more"))
    stream: BlockingStream[int, int] = BlockingStream()
    results = stream.read(numbers())
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(TenorError, match="no more"):
        next(results)
    assert numbers.closed


def test_leaving_a_plain_loop_ends_the_work_and_its_thread() -> None:
    numbers = Numbers(50)
    stream: BlockingStream[int, int] = BlockingStream()
    results = stream.read(numbers())
    assert next(results) == 0
    results.close()
    assert numbers.closed
    assert "tenor" not in {thread.name for thread in threading.enumerate()}
    assert numbers.made <= 2


async def test_a_plain_loop_works_where_an_event_loop_runs() -> None:
    """As in a notebook."""
    stream: BlockingStream[int, int] = BlockingStream()
    assert list(stream.read(Numbers(3)())) == [0, 1, 2]


def test_progress_is_told_in_the_readers_thread_and_in_order() -> None:
    told: list[tuple[int, threading.Thread]] = []
    stream: BlockingStream[int, int] = BlockingStream(lambda number: told.append((number, threading.current_thread())))

    async def results() -> AsyncGenerator[int, None]:
        for number in range(3):
            stream.tell(number)
            yield number

    for number in stream.read(results()):
        assert told[-1] == (number, threading.current_thread())
    assert len(told) == 3


def test_an_error_in_the_callback_ends_the_work() -> None:
    def wrong(_: int) -> None:
        raise ValueError("a mistake in the callback")

    numbers = Numbers(50)
    stream: BlockingStream[int, int] = BlockingStream(wrong)
    stream.tell(1)
    with pytest.raises(ValueError, match="a mistake"):
        list(stream.read(numbers()))
    assert numbers.closed
