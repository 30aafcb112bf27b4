"""A gateway on free ports, with a bus that remembers."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from ingest.gateway import Gateway
from tenor.bus import Bus
from tenor.settings import GatewaySettings, Settings
from tests.ingest.gateway.hearing import HeardCall, hear
from tests.ingest.gateway.recorder import Recorder

Serve = Callable[..., contextlib.AbstractAsyncContextManager[Gateway]]
Ended = Callable[..., Awaitable[HeardCall]]


@contextlib.asynccontextmanager
async def serving(bus: Bus, **gateway: Any) -> AsyncIterator[Gateway]:
    given = {"port": 0, "audiosocket_port": 0, "insecure": True, "resume_s": 0.3, **gateway}
    stage = Gateway(bus, Settings(gateway=GatewaySettings.model_validate(given)))
    running = asyncio.create_task(stage.run())
    ready = asyncio.create_task(stage.ready.wait())
    await asyncio.wait([running, ready], return_when=asyncio.FIRST_COMPLETED)
    ready.cancel()
    if running.done():
        running.result()
    try:
        yield stage
    finally:
        running.cancel()
        await running


@pytest.fixture
def bus() -> Recorder:
    return Recorder()


@pytest.fixture
def serve(bus: Recorder) -> Serve:
    """`async with serve(max_calls=1) as gateway`, with settings of the gateway."""

    def with_settings(**gateway: Any) -> contextlib.AbstractAsyncContextManager[Gateway]:
        return serving(bus, **gateway)

    return with_settings


@pytest.fixture
def ended(bus: Recorder) -> Ended:
    """The call, once its end is on the bus."""

    async def wait(call: str, timeout_s: float = 5.0) -> HeardCall:
        async with asyncio.timeout(timeout_s):
            while True:
                heard = hear(bus.events).get(call)
                if heard is not None and heard.ended is not None:
                    return heard
                await asyncio.sleep(0.01)

    return wait
