"""Who understands sentences, as the settings say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nlp.names import intents_in_force
from nlp.understood import Backend
from tenor.settings import LanguageSettings, Settings

if TYPE_CHECKING:
    from nlp.local import LocalUnderstanding


def open_backend(settings: Settings) -> Backend:
    """Our models, or a Riva server's. BadInput says what is wrong with the files that the settings name."""
    if settings.language.backend == "riva":
        from nlp.riva import RivaUnderstanding

        return RivaUnderstanding(settings.speech, intents_in_force(settings.language))
    return open_local(settings.language)


def open_local(language: LanguageSettings) -> LocalUnderstanding:
    """Our models, also where a pipeline would ask a server: `tenor riva` is one."""
    from nlp import sentiments
    from nlp.completed import completed
    from nlp.local import LocalUnderstanding
    from nlp.model import DEFAULT, Model

    model = completed(Model(Path(language.model) if language.model else DEFAULT, threads=language.threads))
    feelings = sentiments.read(Path(language.sentiments)) if language.sentiments else ()
    intents = intents_in_force(language.model_copy(update={"backend": "local"}))
    return LocalUnderstanding(model, intents, feelings)
