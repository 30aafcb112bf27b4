"""Sentences written as patterns: `(a|b|)` is a choice, `{name}` one of the words called so."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random

Words = Mapping[str, Sequence[str]]

_INNERMOST = re.compile(r"\(([^()]*)\)|\{(\w+)\}")
_SPACES = re.compile(r"\s+")


def one(pattern: str, words: Words, random: Random) -> str:
    """The pattern with every choice made."""
    while match := _INNERMOST.search(pattern):
        options = match[1].split("|") if match[2] is None else words[match[2]]
        pattern = pattern[: match.start()] + random.choice(options) + pattern[match.end() :]
    return _SPACES.sub(" ", pattern).strip()


def written(pattern: str, words: Words, random: Random, *, most: int) -> list[str]:
    """Up to `most` different sentences of a pattern; a pattern with fewer gives those it has."""
    found: dict[str, None] = {}
    for _ in range(4 * most):
        found.setdefault(one(pattern, words, random))
        if len(found) == most:
            break
    return list(found)
