"""The stages put together in one process: what one-shot commands and the demo run on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from tenor.bus import Bus
from tenor.bus.opening import open_bus
from tenor.cli.stages import stage
from tenor.errors import Refused, Unavailable
from tenor.settings import LanguageSettings, RivaSettings, Settings, SpeechSettings
from tenor.stage import Stage

if TYPE_CHECKING:
    from asr.local.server import RivaServer


def local_riva(settings: RivaSettings, language: LanguageSettings | None = None) -> RivaServer:
    """`tenor riva`: the speech services on our own engines, joined with the language service. Without `language` only
    speech, and no HTTP: a pipeline of our own needs no more."""
    from asr.local.ears import LocalEars
    from asr.local.options import ServerOptions
    from asr.local.server import RivaServer

    options = ServerOptions(
        host=settings.host,
        port=settings.port,
        http_port=settings.http_port if language else None,
        tls_cert=_path(settings.cert_file),
        tls_key=_path(settings.key_file),
        tls_client_ca=_path(settings.client_ca_file),
        api_key=settings.api_key.get_secret_value(),
        max_streams=settings.max_streams,
        idle_s=settings.idle_s,
        engine=settings.engine,
        voice=settings.voice,
        piper_model=_path(settings.piper_model),
    )
    load = partial(
        LocalEars,
        workers=settings.threads,
        max_streams=settings.max_streams,
        window_s=settings.window_s,
        whisper_path=_path(settings.whisper_path),
    )
    services = {}
    if language:
        from nlp import servicer
        from nlp.backend import open_local

        services[servicer.SERVICE] = servicer.register(open_local(language))
    return RivaServer(options, services=services, load_ears=load)


def _path(text: str) -> Path | None:
    return Path(text) if text else None


@asynccontextmanager
async def running(stage: Stage) -> AsyncIterator[asyncio.Task[None]]:
    """A stage at work inside the block, stopped after it. If it fails, the block ends with its error."""
    block = asyncio.current_task()
    assert block is not None
    task = asyncio.create_task(stage.run(), name=stage.name)
    task.add_done_callback(lambda done: None if done.cancelled() or done.exception() is None else block.cancel())
    try:
        yield task
    finally:
        if task.done() and not task.cancelled() and task.exception() is not None:
            block.uncancel()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def until(event: asyncio.Event, task: asyncio.Task[None]) -> None:
    """Wait for `event`, or raise what `task` died of before it came."""
    waiting = asyncio.create_task(event.wait())
    try:
        await asyncio.wait((waiting, task), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            task.result()
    finally:
        waiting.cancel()


async def recogniser_models(speech: SpeechSettings) -> list[str]:
    """What the recogniser can stream; says in a line why it cannot be used."""
    from asr.riva import Recogniser
    from asr.trouble import Trouble

    nobody = Unavailable(
        f"no recogniser answers at {speech.address}",
        "start one with `tenor riva`, or say where it is with speech.address",
    )
    recogniser = Recogniser(speech)
    try:
        return await asyncio.wait_for(recogniser.models(), 5)
    except Trouble as error:
        if error.kind != "away":
            raise Refused(f"the recogniser at {speech.address} does not serve us: {error.reason}") from None
        raise nobody from None
    except TimeoutError:
        raise nobody from None
    finally:
        await recogniser.close()


@asynccontextmanager
async def pipeline(settings: Settings, *, riva: bool, stages: Sequence[str] = ("asr",)) -> AsyncIterator[Bus]:
    """The bus with stages on it, and with a recogniser of our own on a free port if `riva`."""
    async with AsyncExitStack() as stack:
        if riva:
            private = {"host": "127.0.0.1", "port": 0, "cert_file": "", "client_ca_file": "", "api_key": SecretStr("")}
            local = local_riva(settings.riva.model_copy(update={**private, "key_file": ""}))
            task = await stack.enter_async_context(running(local))
            await until(local.opened, task)
            speech = {"address": f"127.0.0.1:{local.port}", "tls": False, "root_cert": "", "metadata": {}}
            settings = changed(settings, speech=speech)
        bus = await stack.enter_async_context(open_bus(settings))
        for name in stages:
            await stack.enter_async_context(running(stage(name, bus, settings)))
        yield bus


def changed(settings: Settings, **changes: Any) -> Settings:
    """The settings with some changed; a section is given as a dict of what changes in it."""
    update = {
        name: getattr(settings, name).model_copy(update=change) if isinstance(change, dict) else change
        for name, change in changes.items()
    }
    return settings.model_copy(update=update)
