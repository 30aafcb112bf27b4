"""A shift: a bus of its own with stages on it, gone afterwards with everything that was on it."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from pydantic import SecretStr

from tenor.bus import Bus, lag
from tenor.bus.opening import open_bus
from tenor.cli.pipeline import changed, local_riva, recogniser_models, running, until
from tenor.events import Topic
from tenor.scratch import scratch
from tenor.settings import Settings
from tenor.stage import Stage

Crew = Callable[[Bus, Settings], Iterable[Stage]]
"""Makes the stages of a shift."""


@asynccontextmanager
async def recogniser(settings: Settings, *, own: bool) -> AsyncIterator[Settings]:
    """The settings that lead to a recogniser: one of our own on a free port, or the one they name."""
    if not own:
        await recogniser_models(settings.speech)  # says at once when there is nobody, instead of waiting for one
        yield settings
        return
    private = {"host": "127.0.0.1", "port": 0, "cert_file": "", "key_file": "", "client_ca_file": ""}
    local = local_riva(settings.riva.model_copy(update={**private, "api_key": SecretStr("")}))
    async with running(local) as task:
        await until(local.opened, task)
        there = {"address": f"127.0.0.1:{local.port}", "tls": False, "root_cert": "", "metadata": {}}
        yield changed(settings, speech=there)


@asynccontextmanager
async def shift(settings: Settings, crew: Crew) -> AsyncIterator[Bus]:
    """What is kept is kept where the settings say; only the bus is the shift's own."""
    kept = {"url": settings.storage_url, "recordings": settings.recordings_url}
    with scratch(Path(tempfile.gettempdir()), "tenor-") as home:
        own = changed(settings, home=home, bus={"url": ""}, storage=kept)
        async with AsyncExitStack() as stack:
            bus = await stack.enter_async_context(open_bus(own))
            for stage in crew(bus, own):
                await stack.enter_async_context(running(stage))
            yield bus


async def caught_up(bus: Bus, topics: Iterable[Topic], group: str) -> None:
    """Wait until a group has dealt with everything on its topics."""
    topics = list(topics)
    while await lag(bus, topics, group):  # noqa: ASYNC110 -- the bus tells lag, not events
        await asyncio.sleep(0.05)
