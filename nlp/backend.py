"""Who understands sentences, as the settings say."""

from __future__ import annotations

from pathlib import Path

from nlp.understood import Backend
from tenor.settings import Settings


def open_backend(settings: Settings) -> Backend:
    """Our models, or a Riva server's. BadInput says what is wrong with the files that the settings name."""
    from nlp import sentiments, taxonomy
    from nlp.local import LocalUnderstanding
    from nlp.model import DEFAULT, Model

    language = settings.language
    model = Model(Path(language.model) if language.model else DEFAULT, threads=language.threads)
    intents = taxonomy.read(Path(language.intents) if language.intents else taxonomy.DEFAULT)
    feelings = sentiments.read(Path(language.sentiments)) if language.sentiments else ()
    return LocalUnderstanding(model, intents, feelings)
