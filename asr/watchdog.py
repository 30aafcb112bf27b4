"""Looks after what does not happen: answers that do not come, calls whose audio has stopped."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable

import structlog

from asr.call import AsrCall
from asr.partition import AudioPartition

log = structlog.get_logger(__name__)

TICK_S = 0.25


async def watch(partitions: Callable[[], Iterable[AudioPartition]], watchdog_s: float) -> None:
    """Until cancelled."""
    while True:
        await asyncio.sleep(TICK_S)
        now = time.monotonic()
        for partition in tuple(partitions()):
            for call in partition.calls:
                call.check(now)
                # Looked at twice: while `exhausted` waits for the bus, something may come.
                if _stopped(call, watchdog_s) and await partition.source.exhausted() and _stopped(call, watchdog_s):
                    log.info("call ended: its audio stopped", call=call.id, after_s=watchdog_s)
                    call.stop()


def _stopped(call: AsrCall, watchdog_s: float) -> bool:
    return call.end is None and time.monotonic() - call.touched > watchdog_s
