"""Which intents and sentiments are in force, as the settings say: what a rule, a playbook and a label may name.

    language.intents, language.sentiments   a file decides
    language.model                          else what the model has learned, by its model.json
    nothing of these                        else what ships: tenor/taxonomy/intents.yaml, sentiments.SHIPPED

A Riva server (`language.backend = "riva"`) has models of its own and does not list their labels: what the settings name
is in force there too, and beside it whatever its sentences carry (storage/labels/allowed.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from tenor.model_store import CARD, read_card
from tenor.settings import LanguageSettings
from tenor.taxonomy import intents, sentiments
from tenor.taxonomy.intents import UNKNOWN, Taxonomy, WantedIntent

INTENT, SENTIMENT, SLOTS = "intent", "sentiment", "slots"
"""The heads of a model that these are about."""
SHIPPED_SLOTS = ("amount", "company", "date", "number", "person", "place", "product", "time")
"""What the model that ships finds in sentences."""


@dataclass(frozen=True, slots=True)
class NamesInForce:
    """What a person can choose from."""

    sentiments: tuple[str, ...]
    """From the worst to the best."""
    intents: tuple[str, ...]
    """By name, `unknown` last."""
    slots: tuple[str, ...] = ()
    """By name."""


def names_in_force(language: LanguageSettings) -> NamesInForce:
    """As the two below; read again only when a file has changed. BadInput when one cannot be read."""
    files = (language.intents, language.sentiments, str(Path(language.model) / CARD) if language.model else "")
    told = (language.backend, language.model, language.intents, language.sentiments)
    return _names_in_force(*told, tuple(_changed_at(file) for file in files))


def in_order(
    sentiment_names: Iterable[str], intent_names: Iterable[str], slot_names: Iterable[str] = SHIPPED_SLOTS
) -> NamesInForce:
    """Names that nobody has told the worth of, for people to choose from."""
    worth = {name: sentiments.valence_of(name) for name in sentiment_names}
    return _in_order(worth, intent_names, slot_names)


def intents_in_force(language: LanguageSettings) -> Taxonomy:
    """The file's; else the labels of a model that learned others than ours; else ours."""
    if language.intents:
        return intents.read(Path(language.intents))
    ours = intents.read()
    learned = [name for name in _learned(language, INTENT) if name != UNKNOWN]
    if set(learned) <= set(ours.names):
        return ours
    small_talk = set(ours.names) - ours.tasks
    return Taxonomy(tuple(WantedIntent(name, "", (), task=name not in small_talk) for name in learned))


def sentiments_in_force(language: LanguageSettings) -> dict[str, float]:
    """The sentiment labels, and what each is worth in a mood."""
    if language.sentiments and language.backend == "local":
        return {feeling.name: feeling.valence for feeling in sentiments.read(Path(language.sentiments))}
    learned = _learned(language, SENTIMENT)
    return {label: sentiments.valence_of(label) for label in learned} if learned else dict(sentiments.SHIPPED)


def slots_in_force(language: LanguageSettings) -> tuple[str, ...]:
    """What values of a sentence are called."""
    learned = _learned(language, SLOTS)
    return tuple(sorted({tag[2:] for tag in learned if "-" in tag})) if learned else SHIPPED_SLOTS


def _learned(language: LanguageSettings, head: str) -> tuple[str, ...]:
    """What a model of one's own tells apart; nothing when there is none, or the one that ships tells for it."""
    if not language.model or language.backend == "riva":
        return ()
    return read_card(Path(language.model)).heads.get(head, ())


@lru_cache(maxsize=8)
def _names_in_force(
    backend: Literal["local", "riva"], model: str, intents: str, sentiments: str, changed_at: tuple[int, ...]
) -> NamesInForce:
    given = LanguageSettings(backend=backend, model=model, intents=intents, sentiments=sentiments)
    return _in_order(sentiments_in_force(given), intents_in_force(given).names, slots_in_force(given))


def _in_order(worth: Mapping[str, float], intent_names: Iterable[str], slot_names: Iterable[str]) -> NamesInForce:
    return NamesInForce(
        tuple(sorted(worth, key=lambda name: (worth[name], name))),
        (*sorted({*intent_names} - {UNKNOWN}), UNKNOWN),
        tuple(sorted({*slot_names})),
    )


def _changed_at(file: str) -> int:
    try:
        return Path(file).stat().st_mtime_ns if file else 0
    except OSError:
        return 0
