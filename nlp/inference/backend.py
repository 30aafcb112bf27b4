"""The back end that the settings name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nlp.inference.types import Backend
from tenor.settings import LanguageSettings, Settings
from tenor.taxonomy import sentiments
from tenor.taxonomy.in_force import intents_in_force

if TYPE_CHECKING:
    from nlp.inference.local import LocalBackend


def open_backend(settings: Settings) -> Backend:
    """Our models, or a Riva server's. BadInput says what is wrong with the files that the settings name."""
    if settings.language.backend == "riva":
        from nlp.inference.riva import RivaBackend

        return RivaBackend(settings.speech, intents_in_force(settings.language))
    return open_local(settings.language)


def open_local(language: LanguageSettings) -> LocalBackend:
    """Our models, also where a pipeline would ask a server: `tenor riva` is one."""
    from nlp.inference.combined_model import with_all_heads
    from nlp.inference.language_model import open_model
    from nlp.inference.local import LocalBackend
    from nlp.inference.onnx_model import DEFAULT

    model = with_all_heads(open_model(Path(language.model) if language.model else DEFAULT, threads=language.threads))
    feelings = sentiments.read(Path(language.sentiments)) if language.sentiments else ()
    intents = intents_in_force(language.model_copy(update={"backend": "local"}))
    return LocalBackend(model, intents, feelings)
