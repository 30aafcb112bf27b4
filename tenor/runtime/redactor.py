"""The redactor that the settings ask for."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from tenor.errors import BadInput
from tenor.redaction import KINDS, Finder, Redactor, Span
from tenor.redaction.patterns import PatternRedactor
from tenor.settings import Settings

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
    if {speech.redact, *speech.redact_queues.values()} != {"off"}:
        finder.load()
    return PatternRedactor(speech.redact_kinds, finder)


class FinderWhenNeeded:
    """The language model's, loaded with the first call that wants its names taken out."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def load(self) -> None:
        """Now, so that the first call need not wait, and a broken model is told at the start."""
        assert self._finder

    def find(self, text: str, *, final: bool) -> Iterable[Span]:
        return self._finder.find(text, final=final)

    @cached_property
    def _finder(self) -> Finder:
        from nlp.inference.name_finder import CARD, DEFAULT, NameFinder

        own = self._settings.language.model
        folder = Path(own) if own and (Path(own) / CARD).exists() else DEFAULT
        return NameFinder(folder, self._settings.speech.redact_threshold)
