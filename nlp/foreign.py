"""Whether a text is in a language the models were not made for. Said rather than guessed at.

Only clear cases count: another script, or the small words of another language and few of English. Names, numbers
and single words pass as English.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from pathlib import Path

import yaml

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_READ = 500
"""Characters that are looked at; a language shows earlier than that."""


def is_foreign(text: str) -> bool:
    """True when the text is clearly not English."""
    letters = [letter for letter in text[:_READ] if letter.isalpha()]
    if not letters:
        return False
    if sum(_is_latin(letter) for letter in letters) * 2 < len(letters):
        return True
    english, foreign = _small_words()
    words = [word.lower() for word in _WORD.findall(text[:_READ])]
    others = sum(word in foreign for word in words)
    return others >= 2 and others > 2 * sum(word in english for word in words)


@cache
def _small_words() -> tuple[frozenset[str], frozenset[str]]:
    tree = yaml.load(Path(__file__).with_suffix(".yaml").read_text("utf-8"), yaml.BaseLoader)
    english = frozenset(tree.pop("en").split())
    return english, frozenset(word for words in tree.values() for word in words.split()) - english


def _is_latin(letter: str) -> bool:
    return letter.isascii() or unicodedata.name(letter, "").startswith("LATIN")
