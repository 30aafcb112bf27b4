"""The recogniser of a pipeline: a Riva server of our own on this machine's CPU, or the one the settings name."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr

from tenor.errors import Refused, Unavailable
from tenor.model_store.store import ModelStore
from tenor.runtime.profiles import change_settings
from tenor.runtime.running import running, until
from tenor.settings import LanguageSettings, RivaSettings, Settings, SpeechSettings

if TYPE_CHECKING:
    from asr import RivaServer


def local_riva(
    settings: RivaSettings, language: LanguageSettings | None = None, models: Path | None = None
) -> RivaServer:
    """`tenor riva`: the speech services on our own engines, joined with the language service. Without `language` only
    speech, and no HTTP: a pipeline of our own needs no more. `models`: the registry's folder."""
    from asr import LocalRecognizer, RivaServer, ServerOptions

    services = {}
    if language:
        from nlp import riva_service
        from nlp.inference.backend import local_models
        from nlp.inference.current_models import CurrentModels

        pool = local_models(language, lambda backend: backend, ModelStore(None if language.model else models))
        if language != LanguageSettings():
            pool.current()  # what is wrong with settings of one's own is told at the start
        services[riva_service.SERVICE] = riva_service.register(CurrentModels(pool))
    options = ServerOptions.from_settings(settings, http=language is not None)
    load = partial(LocalRecognizer, settings, models, _punctuate)
    return RivaServer(options, services=services, load_recognizer=load)


def _punctuate(words: Sequence[str]) -> list[str]:
    from nlp.inference.punctuation import shared_punctuator

    return shared_punctuator().words(words)


async def recognizer_models(speech: SpeechSettings) -> list[str]:
    """What the recogniser can stream; says in a line why it cannot be used."""
    from asr import RivaClient, RivaError

    nobody = Unavailable(
        f"no recogniser answers at {speech.address}",
        "start one with `tenor riva`, or say where it is with speech.address",
    )
    recogniser = RivaClient(speech)
    try:
        return await asyncio.wait_for(recogniser.models(), 5)
    except RivaError as error:
        if error.kind != "away":
            raise Refused(f"the recogniser at {speech.address} does not serve us: {error.reason}") from None
        raise nobody from None
    except TimeoutError:
        raise nobody from None
    finally:
        await recogniser.close()


@asynccontextmanager
async def recognizer(settings: Settings, *, own: bool = True) -> AsyncIterator[Settings]:
    """The settings that lead to a recogniser: one of our own on a free port, or the one that they name.

    One of our own loads its models first, and ends with the block. If there is none where the settings say, that is an
    error at once: nobody waits for one.
    """
    if not own:
        await recognizer_models(settings.speech)
        yield settings
        return
    private = {"host": "127.0.0.1", "port": 0, "cert_file": "", "key_file": "", "client_ca_file": ""}
    own_riva = settings.riva.model_copy(update={**private, "api_key": SecretStr("")})
    server = local_riva(own_riva, models=settings.models_folder)
    async with running(server) as task:
        await until(server.opened, task)
        address = {"address": f"127.0.0.1:{server.port}", "tls": False, "root_cert": "", "metadata": {}}
        yield change_settings(settings, speech=address)
