"""Who understands sentences, as the settings say."""

from __future__ import annotations

from pathlib import Path

from nlp.understood import Backend
from tenor.settings import Settings


def open_backend(settings: Settings) -> Backend:
    """Our models, or a Riva server's. BadInput says what is wrong with the files that the settings name."""
    from nlp import sentiments, taxonomy

    language = settings.language
    intents = taxonomy.read(Path(language.intents) if language.intents else taxonomy.DEFAULT)
    if language.backend == "riva":
        from nlp.riva import RivaUnderstanding

        return RivaUnderstanding(settings.speech, intents)
    from nlp.local import LocalUnderstanding
    from nlp.model import DEFAULT, Model

    model = Model(Path(language.model) if language.model else DEFAULT, threads=language.threads)
    feelings = sentiments.read(Path(language.sentiments)) if language.sentiments else ()
    return LocalUnderstanding(model, intents, feelings)
