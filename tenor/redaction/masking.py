"""Masks over tokens, and what a text and its words look like behind them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tenor.events import Redaction, Word
from tenor.redaction import KINDS, Span
from tenor.redaction.tokens import Token

HELD = "held"
"""The end of an interim that may still become a secret."""
LABELS = {kind: f"[{kind.replace('_', ' ')}]" for kind in KINDS} | {HELD: "…"}


class Mask(NamedTuple):
    first: int
    last: int
    """Tokens, both included."""
    kind: str

    @property
    def tokens(self) -> range:
        return range(self.first, self.last + 1)


def joined(masks: Iterable[Mask]) -> list[Mask]:
    """In order and apart: what overlaps is one, named after the first in the order of `KINDS`; so are neighbours of
    one kind."""
    found: list[Mask] = []
    for mask in sorted(masks):
        last = found[-1] if found else None
        if last and (mask.first <= last.last or (mask.first == last.last + 1 and mask.kind == last.kind)):
            kind = min(last.kind, mask.kind, key=_weight)
            found[-1] = Mask(last.first, max(last.last, mask.last), kind)
        else:
            found.append(mask)
    return found


def _weight(kind: str) -> int:
    return KINDS.index(kind)


def whole(tokens: Sequence[Token], mask: Mask) -> Mask:
    """A mask that covers one part of a word, with hyphens or none, covers them all."""
    first, last, kind = mask
    while first and _of_one_word(tokens, first):
        first -= 1
    while last + 1 < len(tokens) and _of_one_word(tokens, last + 1):
        last += 1
    return Mask(first, last, kind)


def _of_one_word(tokens: Sequence[Token], at: int) -> bool:
    """With the token before."""
    return tokens[at].chunk == tokens[at - 1].chunk and tokens[at].lead in ("", "-")


def spans(text: str, tokens: Sequence[Token], masks: Iterable[Mask]) -> tuple[Span, ...]:
    return tuple(_span(text, tokens[mask.first].start, tokens[mask.last].end, mask.kind) for mask in masks)


def _span(text: str, start: int, end: int, kind: str) -> Span:
    """With the other one of a pair of brackets: `(415) 555 2671`."""
    opened, closed = text.count("(", start, end), text.count(")", start, end)
    if closed > opened and text[:start].endswith("("):
        start -= 1
    elif opened > closed and text.startswith(")", end):
        end += 1
    return Span(start, end, kind)


def masked_text(text: str, taken: Sequence[Span]) -> str:
    parts, done = [], 0
    for start, end, kind in taken:
        parts += [text[done:start], LABELS[kind]]
        done = end
    return "".join([*parts, text[done:]])


def masked_words(
    words: Sequence[Word], tokens: Sequence[Token], masks: Iterable[Mask]
) -> tuple[tuple[Word, ...], tuple[Redaction, ...]]:
    """The words with one in place of those taken out, and when these were said. `tokens` are those of the words."""
    shown: list[Word] = []
    times: list[Redaction] = []
    done = 0
    for first, last, kind in masks:
        start, end = max(tokens[first].chunk, done), tokens[last].chunk
        shown += words[done:start]
        if end >= start:
            taken = words[start : end + 1]
            shown.append(_one(taken, LABELS[kind]))
            times.append(Redaction(kind=kind, start_ms=taken[0].start_ms, end_ms=taken[-1].end_ms))
        done = max(done, end + 1)
    return (*shown, *words[done:]), tuple(times)


def _one(words: Sequence[Word], label: str) -> Word:
    """One word in place of several, from the beginning of the first to the end of the last."""
    last = words[-1].text
    tail = last[len(last.rstrip(".,!?;:")) :]
    return Word(
        text=label + tail,
        start_ms=words[0].start_ms,
        end_ms=words[-1].end_ms,
        confidence=min(word.confidence for word in words),
        speaker=words[0].speaker,
    )
