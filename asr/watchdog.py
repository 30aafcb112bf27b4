"""Looks after what does not happen: answers that do not come, calls whose audio has stopped."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable

import structlog

from asr.call import HeardCall
from asr.desk import Desk
from tenor.events import AUDIO_STOPPED

log = structlog.get_logger(__name__)

TICK_S = 0.25


async def watch(desks: Callable[[], Iterable[Desk]], watchdog_s: float) -> None:
    """Until cancelled."""
    while True:
        await asyncio.sleep(TICK_S)
        now = time.monotonic()
        for desk in tuple(desks()):
            for call in desk.calls:
                call.check(now)
                # Looked at twice: while `level` waits for the bus, something may come.
                if _stopped(call, watchdog_s) and await desk.level() and _stopped(call, watchdog_s):
                    log.info("call ended: its audio stopped", call=call.id, after_s=watchdog_s)
                    call.hang_up(AUDIO_STOPPED)


def _stopped(call: HeardCall, watchdog_s: float) -> bool:
    return call.end is None and time.monotonic() - call.touched > watchdog_s
