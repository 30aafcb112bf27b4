"""Numbers and addresses that have a form: cards, accounts, telephones, e-mail, dates of birth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tenor.events import Word
from tenor.redaction import Redacted


class PatternRedactor:
    def __init__(self, kinds: Iterable[str]) -> None:
        self._kinds = frozenset(kinds)

    def redact(self, text: str, words: Sequence[Word], *, before: str = "", final: bool = True) -> Redacted:
        return Redacted(text, tuple(words), ())
