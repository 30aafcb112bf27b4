"""What a sentence is about: one answer of a further classifier, which may name several aspects (`delivery,product`)."""

from __future__ import annotations

from collections.abc import Iterable

from tenor.settings import LanguageSettings

CLASSIFIER = "aspect"
"""Its name in the setting `language.classifiers`, and in searches."""
SHIPPED = ("product", "service", "support", "brand", "price", "delivery")
"""Those of nlp/aspects.yaml."""
SEPARATOR = ","


def joined(aspects: Iterable[str]) -> str:
    return SEPARATOR.join(aspects)


def named(answer: str) -> frozenset[str]:
    """The aspects that an answer names."""
    return frozenset(answer.split(SEPARATOR)) if answer else frozenset()


def aspects_in_force(language: LanguageSettings) -> tuple[str, ...] | None:
    """None: a class of one's own tells them, and which they are is not known."""
    shipped = LanguageSettings().classifiers[CLASSIFIER]
    return SHIPPED if language.classifiers.get(CLASSIFIER) == shipped else None
