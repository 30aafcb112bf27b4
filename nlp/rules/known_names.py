"""What there is besides a file of rules that its rules may name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Known:
    """Names that rules may use, from elsewhere in the configuration. None: not known, so not checked."""

    intents: Collection[str] | None = None
    tasks: Collection[str] | None = None
    """Intents that a whole call can be about."""
    sentiments: Mapping[str, float] | None = None
    """With what each is worth in a mood."""
    classifiers: Collection[str] | None = None
    sides: Collection[str] | None = None
    webhooks: Collection[str] | None = None
