"""What a model learns from: texts with a label, texts with marked values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

Span = tuple[int, int, str]
"""First character, first character after, slot."""

_PUNCTUATION = re.compile(r"[,!?;\"]|[.:](?=\s|$)")
_MARK = re.compile(r"<(\w+) ([^<>]+)>")


@dataclass(frozen=True, slots=True)
class LabelledText:
    text: str
    label: str
    role: str = ""
    """caller or agent; empty where nobody knows."""
    before: str | None = None
    """The sentence before in the call."""


@dataclass(frozen=True, slots=True)
class TaggedText:
    text: str
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class LanguageExample:
    """A sentence with whatever is known of it."""

    text: str
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By sentence head: the label, then others that would do as well."""
    spans: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)
    """By token head."""
    role: str = ""
    before: str | None = None
    weight: float = 1.0
    """How much a mistake counts."""


def spoken(text: str) -> str:
    """As a recogniser without punctuation writes it. Every character keeps its place, so spans stay true."""
    return _PUNCTUATION.sub(" ", text)


def plain(text: str) -> str:
    """What makes two sentences the same: words only."""
    return " ".join(re.findall(r"[\w']+", text.lower()))


def unmarked(text: str) -> TaggedText:
    """`pay <amount ten dollars>` as a text and its spans."""
    spans: list[Span] = []
    written = ""
    last = 0
    for mark in _MARK.finditer(text):
        written += text[last : mark.start()]
        value = mark[2].strip()
        spans.append((len(written), len(written) + len(value), mark[1]))
        written += value
        last = mark.end()
    return TaggedText(written + text[last:], tuple(spans))
