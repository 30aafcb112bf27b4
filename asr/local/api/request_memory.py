"""How much memory requests may take before they are served. gRPC keeps a message until it is whole, up to
LARGEST_MESSAGE of each call, and Riva's clients send whole recordings as one: hundreds of them would fill any machine.

    recordings   wait for their turn, so that those that arrive and those that are recognised fit
    all others   are small; when memory runs out, those that have been arriving for more than a second are refused
"""

from __future__ import annotations

import asyncio
import ctypes
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import structlog

from asr.local import metrics
from asr.local.api.limits import RETRY_MS
from asr.local.errors import busy, invalid

log = structlog.get_logger(__name__)

LARGEST_MESSAGE = 128 << 20
LARGEST_CHUNK = 4 << 20
"""Of what is no recording: gRPC's own limit, and two minutes of audio."""
COPIES = 2
"""A message is there as it came and as its audio."""
TICK_S = 0.1
SLOW_S = 1.0
"""Longer than a chunk of a live stream takes."""

T = TypeVar("T")


class _Reading:
    def __init__(self) -> None:
        self.since = time.monotonic()
        self.limit = asyncio.timeout(None)
        self.refused = False


class RequestMemory:
    def __init__(self, most: int, in_use: Callable[[], int] | None = None) -> None:
        """`most`: bytes beyond what is in use otherwise. `in_use` is the allocator's count by default."""
        self._most = most
        self._in_use = in_use or allocated
        self._recent: deque[int] = deque(maxlen=round(SLOW_S / TICK_S) + 2)
        """What was in use, tick by tick; the first is from before anything that is slow now began to arrive."""
        self._readings: dict[_Reading, None] = {}
        """The longest first."""
        self._for_recordings = most // 2
        self._one = min(COPIES * LARGEST_MESSAGE, self._for_recordings)
        self._recordings = 0
        """Bytes kept for those that arrive or are recognised."""
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def read(self, reading: Awaitable[T], within_s: float, most: int = LARGEST_CHUNK) -> T:
        """What is being read; TimeoutError when it is not there in time."""
        entry = _Reading()
        self._readings[entry] = None
        try:
            async with entry.limit, asyncio.timeout(within_s):
                message = await reading
        except TimeoutError:
            if not entry.refused:
                raise
            metrics.REFUSED.labels("memory").inc()
            raise busy("the server's memory for requests that arrive is used up", RETRY_MS) from None
        finally:
            del self._readings[entry]
        if _size(message) > most:
            raise invalid(f"a message must not be larger than {most >> 20} MB: Recognize takes whole recordings")
        return message

    @asynccontextmanager
    async def recording(self) -> AsyncIterator[Callable[[Any], None]]:
        """Wait for room for the largest message there may be, and keep it. What is yielded is told the message when it
        is there: what it does not need is free again."""
        kept = self._one
        await self._turn()

        def came(message: Any) -> None:
            nonlocal kept
            needed = min(kept, COPIES * _size(message))
            self._free(kept - needed)
            kept = needed

        try:
            yield came
        finally:
            self._free(kept)

    async def _turn(self) -> None:
        if not self._waiting and self._recordings + self._one <= self._for_recordings:
            self._recordings += self._one
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # it had its turn, and went at that moment
                self._free(self._one)
            raise

    def _free(self, size: int) -> None:
        self._recordings -= size
        while self._waiting and self._recordings + self._one <= self._for_recordings:
            turn = self._waiting.popleft()
            if not turn.done():
                self._recordings += self._one
                turn.set_result(None)

    async def watch(self) -> None:
        """Refuse what takes too much, until cancelled."""
        while True:
            now, used = time.monotonic(), self._in_use()
            slow = [one for one in self._readings if now - one.since > SLOW_S and not one.refused]
            if not slow or not self._recent:
                self._recent.append(used)
            elif used - self._recent[0] > self._most:
                log.warning("memory runs out: what is slow to arrive is refused", requests=len(slow), bytes=used)
                for one in slow:
                    one.refused = True
                    one.limit.reschedule(0)
            await asyncio.sleep(TICK_S)


def _size(message: Any) -> int:
    return int(message.ByteSize()) if hasattr(message, "ByteSize") else 0


class _Mallinfo(ctypes.Structure):
    """What glibc tells of its memory; the fields between are of no use here."""

    _fields_ = (
        *((name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "mapped", "usmblks", "fsmblks")),
        *((name, ctypes.c_size_t) for name in ("used", "fordblks", "keepcost")),
    )


def _mallinfo() -> Callable[[], _Mallinfo] | None:
    try:
        function = ctypes.CDLL(None).mallinfo2
    except AttributeError:  # glibc before 2.33, or none
        return None
    function.restype = _Mallinfo
    return function


_TELL = _mallinfo()


def allocated() -> int:
    """Bytes that are in use now, in 50 us. The size of the process would not do: what was freed stays with it."""
    if _TELL is None:
        return 0
    told = _TELL()
    return int(told.used + told.mapped)
