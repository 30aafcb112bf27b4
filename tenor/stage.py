"""Stages: long-running parts that tenor/runtime puts together and that stop cleanly."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterable, Mapping
from typing import Protocol

import structlog

from tenor.events import AUDIO, CALLS, DEAD, NOTES, SENTENCES, TRANSCRIPTS, TURNS, Topic
from tenor.health import HEALTH

log = structlog.get_logger(__name__)

READS: Mapping[str, tuple[Topic, ...]] = {
    "asr": (AUDIO,),
    "language": (TRANSCRIPTS, CALLS),
    "assistant": (CALLS, TURNS, TRANSCRIPTS),
    "storage": (SENTENCES, CALLS, NOTES, TURNS, DEAD),
    "recordings": (AUDIO, TRANSCRIPTS, CALLS),
    "webhooks": (CALLS,),
    "summaries": (SENTENCES, CALLS),
}
"""Which topics each stage reads, as a group of its own name. Whoever asks how far a stage is behind asks here."""


class Runnable(Protocol):
    name: str

    async def run(self) -> None:
        """Work until cancelled. On cancellation finish or hand over what is in hand, then return."""
        ...


class Stage(Runnable, Protocol):
    """What a process consists of."""

    async def waits_for(self) -> str:
        """What it cannot work without and does not have; empty: it is ready."""
        ...


async def run_stages(stages: Iterable[Stage], *, signals: bool = True) -> None:
    """Run all until cancelled or, with `signals`, until SIGINT or SIGTERM; if one fails, stop the others and raise its
    error."""
    stages = list(stages)
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    handled = (signal.SIGINT, signal.SIGTERM) if signals else ()
    for number in handled:
        loop.add_signal_handler(number, stop.set)
    tasks = [asyncio.create_task(stage.run(), name=stage.name) for stage in stages]
    stopping = asyncio.create_task(stop.wait())
    watching = asyncio.create_task(HEALTH.watch({stage.name: stage.waits_for for stage in stages}))
    try:
        await asyncio.wait([*tasks, stopping], return_when=asyncio.FIRST_COMPLETED)
    finally:
        HEALTH.stopping = True
        for task in (*tasks, stopping):
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        watching.cancel()  # last: a stage may take long to hand over, and is alive
        await asyncio.gather(stopping, watching, return_exceptions=True)
        for number in handled:
            loop.remove_signal_handler(number)
    for task, result in zip(tasks, results, strict=True):
        if isinstance(result, Exception):
            log.error("stage failed", stage=task.get_name(), error=type(result).__name__)
            raise result
