"""The redactor that the settings ask for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tenor.errors import BadInput
from tenor.redaction import KINDS, Finder, Redactor, Span
from tenor.redaction.patterns import PatternRedactor
from tenor.settings import Settings

if TYPE_CHECKING:
    from nlp.inference.name_finder import NameFinder

_BY_MEANING = {"person", "address"}


def make_redactor(settings: Settings) -> Redactor:
    """Patterns, and the language model where names or addresses are to be taken out."""
    speech = settings.speech
    unknown = [kind for kind in speech.redact_kinds if kind not in KINDS]
    if unknown:
        raise BadInput(f"speech.redact_kinds: nothing is called {unknown[0]!r}", f"there are: {', '.join(KINDS)}")
    if _BY_MEANING.isdisjoint(speech.redact_kinds):
        return PatternRedactor(speech.redact_kinds)
    finder = FinderWhenNeeded(settings)
    levels: dict[str, Finder] = {
        level: FinderAtThreshold(finder, threshold) for level, threshold in speech.redact_thresholds.items()
    }
    if settings.redacts:
        finder.load()
    return PatternRedactor(speech.redact_kinds, FinderAtThreshold(finder, speech.redact_threshold), levels)


class FinderWhenNeeded:
    """The language model's, loaded with the first call that wants its names taken out."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def load(self) -> None:
        """Now, so that the first call need not wait, and a broken model is told at the start."""
        assert self._finder

    def find(self, text: str, threshold: float = 0.0, *, final: bool) -> Iterable[Span]:
        return self._finder.find(text, final=final, threshold=threshold)

    @cached_property
    def _finder(self) -> NameFinder:
        from nlp.inference.name_finder import CARD, DEFAULT, NameFinder

        own = self._settings.language.model
        folder = Path(own) if own and (Path(own) / CARD).exists() else DEFAULT
        return NameFinder(folder)


@dataclass(frozen=True, slots=True)
class FinderAtThreshold:
    """The same model, for those who want more or less of what it doubts taken out. Loaded once for all."""

    finder: FinderWhenNeeded
    threshold: float

    def find(self, text: str, *, final: bool) -> Iterable[Span]:
        return self.finder.find(text, self.threshold, final=final)
