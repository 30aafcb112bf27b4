"""Names that are in force: which intents, sentiments and sides there are, as the settings say."""

from __future__ import annotations

from pathlib import Path

from nlp import sentiments, taxonomy
from nlp.model import DEFAULT, read_card
from nlp.rules import Known
from nlp.taxonomy import UNKNOWN, Taxonomy, WantedIntent
from tenor.settings import LanguageSettings, Settings

SIDES = ("caller", "agent")
"""Of every call that does not say otherwise: phone platforms, chats."""


def intents_in_force(language: LanguageSettings) -> Taxonomy:
    """The file's; else the labels of a model that learned others than ours; else ours."""
    if language.intents:
        return taxonomy.read(Path(language.intents))
    ours = taxonomy.read()
    if not language.model or language.backend == "riva":
        return ours
    learned = [name for name in read_card(Path(language.model)).heads.get("intent", ()) if name != UNKNOWN]
    if set(learned) <= set(ours.names):
        return ours
    small_talk = set(ours.names) - ours.tasks
    return Taxonomy(tuple(WantedIntent(name, "", (), task=name not in small_talk) for name in learned))


def known(settings: Settings) -> Known:
    """What rules may name."""
    language = settings.language
    intents = intents_in_force(language)
    return Known(
        intents=(*intents.names, UNKNOWN),
        tasks=(*sorted(intents.tasks), UNKNOWN),
        sentiments=valences(language) if language.backend == "local" else None,  # a server has its own
        classifiers=tuple(language.classifiers),
        sides=tuple(dict.fromkeys((*SIDES, *settings.ingest.roles))),
        webhooks=tuple(language.webhooks),
    )


def valences(language: LanguageSettings) -> dict[str, float]:
    """The sentiment labels, and what each is worth in a mood."""
    if language.sentiments and language.backend == "local":
        return {feeling.name: feeling.valence for feeling in sentiments.read(Path(language.sentiments))}
    heads = read_card(Path(language.model) if language.model and language.backend == "local" else DEFAULT).heads
    labels = heads.get(sentiments.HEAD) or read_card(DEFAULT).heads[sentiments.HEAD]
    return {label: sentiments.VALENCES.get(label, 0.0) for label in labels}
