"""Stages put together on a bus, in one process: until stopped, for a block, or on a bus that is gone afterwards."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import structlog

from tenor.bus import Bus, lag
from tenor.bus.opening import open_bus
from tenor.errors import TenorError, Unavailable
from tenor.events import Topic
from tenor.runtime.profiles import change_settings, ensure_logging, load_settings
from tenor.runtime.riva import recognizer, recognizer_models
from tenor.runtime.running import running
from tenor.runtime.stages import STAGES, check, make_stage
from tenor.scratch import scratch
from tenor.settings import Settings
from tenor.stage import Stage, run_stages

log = structlog.get_logger(__name__)

StageFactory = Callable[[Bus, Settings], Iterable[Stage]]
"""Makes the stages of a pipeline on its bus, with its settings."""


async def serve(
    stages: Iterable[str] = STAGES,
    settings: Settings | None = None,
    *,
    signals: bool = False,
    warn: Callable[[str], None] | None = None,
    own_recognizer: bool = False,
) -> None:
    """Run stages until cancelled, as `tenor serve` does; if one fails, the others stop and its error is raised.

        asyncio.run(serve(["asr", "language"], load_settings({"bus.url": "kafka://localhost:9092"})))

    stages: their names, of `STAGES`; all by default.
    settings: those of `load_settings()` by default.
    signals: SIGINT and SIGTERM end it, too. For the main thread of a program that has no handlers of its own.
    warn: told when no recogniser answers yet; calls wait on the bus until one does. By default that is logged.
    own_recognizer: start one on this machine's CPU, for as long as the stages run, if none answers.
    """
    names = list(dict.fromkeys(stages))
    check(names)
    settings = settings or load_settings()
    ensure_logging(settings)
    async with open_bus(settings) as bus, AsyncExitStack() as stack:
        if "asr" in names:
            try:
                await recognizer_models(settings.speech)
            except TenorError as error:
                if own_recognizer and isinstance(error, Unavailable):
                    log.info("starting a recogniser on this machine's CPU", because=error.message)
                    settings = await stack.enter_async_context(recognizer(settings))
                else:
                    (warn or log.warning)(f"{error.message}; calls wait on the bus until there is one ({error.hint})")
        await run_stages([make_stage(name, bus, settings) for name in names], signals=signals)


@asynccontextmanager
async def pipeline(
    settings: Settings, stages: Iterable[str] = ("asr", "language"), *, own_recognizer: bool = False
) -> AsyncIterator[Bus]:
    """The bus of the settings with stages on it, for a block; with a recogniser of our own if wanted.

    If a stage fails, the block ends with its error.

        async with pipeline(settings, own_recognizer=True) as bus, bus.follower([SENTENCES]) as follower:
            ...
    """
    names = list(stages)
    check(names)
    ensure_logging(settings)
    async with AsyncExitStack() as stack:
        if own_recognizer:
            settings = await stack.enter_async_context(recognizer(settings))
        bus = await stack.enter_async_context(open_bus(settings))
        for name in names:
            await stack.enter_async_context(running(make_stage(name, bus, settings)))
        yield bus


@asynccontextmanager
async def temporary_pipeline(settings: Settings, stages: Iterable[str] | StageFactory) -> AsyncIterator[Bus]:
    """A bus of its own with stages on it, gone after the block with everything that was on it.

    What stages store is stored where the settings say; only the bus is temporary. `stages` are names, or a function
    that makes them.

        async with recognizer(settings) as settings, temporary_pipeline(settings, ["asr"]) as bus:
            ...
    """
    ensure_logging(settings)
    stored = {"url": settings.storage_url, "recordings": settings.recordings_url}
    if not callable(stages):
        stages = _named(list(stages))
    with scratch(Path(tempfile.gettempdir()), "tenor-") as home:
        models = str(settings.models_folder or "")
        own = change_settings(settings, home=home, bus={"url": ""}, storage=stored, learn={"models": models})
        async with AsyncExitStack() as stack:
            bus = await stack.enter_async_context(open_bus(own))
            for stage in stages(bus, own):
                await stack.enter_async_context(running(stage))
            yield bus


def _named(names: list[str]) -> StageFactory:
    check(names)
    return lambda bus, settings: [make_stage(name, bus, settings) for name in names]


async def caught_up(bus: Bus, topics: Iterable[Topic], group: str) -> None:
    """Wait until a group has dealt with everything on its topics."""
    topics = list(topics)
    while await lag(bus, topics, group):  # noqa: ASYNC110 -- the bus tells lag, not events
        await asyncio.sleep(0.05)
