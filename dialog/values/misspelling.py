"""Whether a word is another one misspelt: people and recognisers keep its first sound and its consonants."""

from __future__ import annotations

import re
from typing import Final

from rapidfuzz.distance import OSA

_SOUNDS: Final = (("ph", "f"), ("ck", "k"), ("qu", "k"), ("c", "k"), ("z", "s"), ("x", "ks"), ("gh", ""))
_VOWELS: Final = re.compile(r"(?<=.)[aeiouyhw]")
_DOUBLED: Final = re.compile(r"(.)\1+")
LONG: Final = 10
"""Letters from which one consonant may be wrong beside another letter."""


def is_misspelt(word: str, right: str) -> bool:
    """Whether `word` may be `right` misspelt. One letter may always be wrong but the first sound; further ones only
    if the consonants agree: margarine is no magazine."""
    if spoken(word)[:1] != spoken(right)[:1]:
        return False
    wrong = OSA.distance(word, right)
    if wrong <= 1:
        return True
    consonants = OSA.distance(_consonants(word), _consonants(right))
    return consonants == 0 or (wrong == 2 and consonants == 1 and min(len(word), len(right)) >= LONG)


def spoken(word: str) -> str:
    """As it sounds: "farmacy" and "pharmacy" are the same."""
    for written, sounds in _SOUNDS:
        word = word.replace(written, sounds)
    return _DOUBLED.sub(r"\1", word)


def _consonants(word: str) -> str:
    return _DOUBLED.sub(r"\1", _VOWELS.sub("", spoken(word)))
