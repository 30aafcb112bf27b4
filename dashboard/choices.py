"""What a person can choose from when correcting: the sentiments and intents of this installation."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

import yaml

from tenor.settings import Settings

SENTIMENTS = ["positive", "neutral", "negative"]


def intents(settings: Settings) -> list[str]:
    """The names in the file of intents that the language stage tells apart."""
    path = settings.language.intents
    return _names(Path(path) if path else Path(str(files("nlp") / "intents.yaml")))


def sentiments(settings: Settings) -> list[str]:
    path = settings.language.sentiments
    return _names(Path(path)) if path else SENTIMENTS


def known(settings: Settings) -> dict[str, list[str]]:
    """What a label may say, by its kind; nothing of a kind whose names cannot be read."""
    names = intents(settings)
    return {"sentiment": sentiments(settings), "intent": [*names, "unknown"] if names else []}


@cache
def _names(path: Path) -> list[str]:
    try:
        content = yaml.load(path.read_text("utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (OSError, yaml.YAMLError):
        return []  # the language stage says what is wrong with it
    return sorted(map(str, content)) if isinstance(content, dict) else []
