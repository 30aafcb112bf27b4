"""Backchannels: what people say to show that they listen, without wanting a turn."""

from __future__ import annotations

import re
from typing import Final

_SPOKEN = "mhm mm mmm hm hmm uh-huh mm-hmm huh uh um ah aha oh okay ok yeah yes yep yup right sure alright good great"
_WORDS: Final = frozenset(_SPOKEN.split())
_PAIRS: Final = frozenset({"uh huh", "mm hmm", "i see", "got it", "all right"})
MOST_WORDS: Final = 3


def is_backchannel(text: str) -> bool:
    """Whether it is only that. After a yes/no question the same words are an answer: who asked must look first."""
    words = re.sub(r"[^a-z' -]", " ", text.lower()).split()
    if not words or len(words) > MOST_WORDS:
        return False
    return all(word in _WORDS for word in words) or " ".join(words) in _PAIRS
