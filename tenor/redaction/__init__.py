"""Taking out what must not be kept, before anything is published.

A redactor is a pure function of the text and of the text published just before it. It has no memory of
its own, so a worker that takes over a call redacts exactly as its predecessor would have.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from tenor.events import Call, Redact, Redaction, Word
from tenor.settings import SpeechSettings

KINDS = ("card", "account", "phone", "email", "birth_date", "address", "person", "number")
"""Everything that can be taken out. `number` is any other number that is read out digit by digit."""


class Span(NamedTuple):
    """What was taken out: characters `start` to `end` of the original text."""

    start: int
    end: int
    kind: str


class RedactedText(NamedTuple):
    text: str
    words: tuple[Word, ...]
    spans: tuple[Span, ...]
    times: tuple[Redaction, ...] = ()
    """When the words that were taken out were said; empty without words."""


class Redactor(Protocol):
    def at(self, level: str | None) -> Redactor:
        """The one for calls of this mode, which may be stricter than others."""
        ...

    def redact(self, text: str, words: Sequence[Word], *, before: str = "", final: bool = True) -> RedactedText:
        """`text` and `words` with everything secret replaced by its kind in brackets; times stay.

        `before` is what the same speaker said just before (but `okay`), as it was published: a number may go
        on from there. An interim (`final` false) may end in the middle of a number or a name, so what could still
        become one at its end is held back."""
        ...


class Finder(Protocol):
    """Finds names and places by what they mean; a language model behind it, or nothing."""

    def find(self, text: str, *, final: bool) -> Iterable[Span]:
        """Spans of kind `person` or `place`; of an interim also those that are less certain."""
        ...


def mode(info: Call, speech: SpeechSettings) -> Redact:
    """What to take out of a call: as it says itself, else as its queue does, else as all do."""
    return info.redact or speech.redact_queues.get(info.queue, speech.redact)
