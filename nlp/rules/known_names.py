"""What there is besides a file of rules that its rules may name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from tenor.model_store.store import language_in_force
from tenor.settings import Settings
from tenor.taxonomy.aspects import aspects_in_force
from tenor.taxonomy.in_force import intents_in_force, sentiments_in_force
from tenor.taxonomy.intents import UNKNOWN

SIDES = ("caller", "agent")
"""Of every call that does not say otherwise: phone platforms, chats."""


@dataclass(frozen=True, slots=True)
class KnownNames:
    """Names that rules may use, from elsewhere in the configuration. None: not known, so not checked."""

    intents: Collection[str] | None = None
    tasks: Collection[str] | None = None
    """Intents that a whole call can be about."""
    sentiments: Mapping[str, float] | None = None
    """With what each is worth in a mood."""
    classifiers: Collection[str] | None = None
    aspects: Collection[str] | None = None
    """What the classifier of aspects may answer."""
    sides: Collection[str] | None = None
    webhooks: Collection[str] | None = None
    rules: Collection[str] | None = None
    """Rules in force, which a scorecard may name."""


def known(settings: Settings) -> KnownNames:
    """What rules may name, as the settings say."""
    language = language_in_force(settings)
    intents = intents_in_force(language)
    return KnownNames(
        intents=(*intents.names, UNKNOWN),
        tasks=(*sorted(intents.tasks), UNKNOWN),
        sentiments=sentiments_in_force(language) if language.backend == "local" else None,  # a server has its own
        classifiers=tuple(language.classifiers),
        aspects=aspects_in_force(language),
        sides=tuple(dict.fromkeys((*SIDES, *settings.ingest.roles))),
        webhooks=tuple(language.webhooks),
    )
