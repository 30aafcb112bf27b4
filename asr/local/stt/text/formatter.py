"""From an engine's words to the text the caller asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from asr.local.boosting import Boosting
from asr.local.hearing import HearingRequest, Word
from asr.local.numbers import split, spoken, written

_PROFANE = frozenset(
    [
        "ass",
        "asshole",
        "bastard",
        "bitch",
        "bollocks",
        "bullshit",
        "cock",
        "cunt",
        "damn",
        "dick",
        "dickhead",
        "fuck",
        "fucked",
        "fucker",
        "fucking",
        "goddamn",
        "motherfucker",
        "motherfucking",
        "piss",
        "pissed",
        "prick",
        "pussy",
        "shit",
        "shitty",
        "slut",
        "twat",
        "wanker",
        "whore",
    ]
)
_PAIRS = {("all", "right"): "alright", ("good", "bye"): "goodbye"}
"""One spelling for what the engines spell in two ways."""
_MARKS = ".,;:!?\"'()[]{}<>-\u2013\u2014\u2026"


class Wording:
    """The wishes of one stream about text."""

    def __init__(self, request: HearingRequest) -> None:
        self._request = request
        self.boosting = Boosting(request.boosts)

    def final(self, words: Sequence[Word]) -> list[Word]:
        shaped = self._shaped(words)
        return shaped if self._request.punctuation else self._plain(shaped)

    def interim(self, words: Sequence[Word]) -> list[Word]:
        """Always lower case and without punctuation, except what was boosted."""
        return self._plain(self._shaped(words))

    def _shaped(self, words: Sequence[Word]) -> list[Word]:
        shaped = _one_spelling(self.boosting.apply(words))
        shaped = spoken(shaped) if self._request.verbatim else written(shaped)
        return [_veiled(word) for word in shaped] if self._request.profanity_filter else shaped

    def _plain(self, words: Sequence[Word]) -> list[Word]:
        plain = []
        for word in words:
            core = word.text.strip(_MARKS)
            if re.fullmatch(r"(?:[A-Za-z]\.)+[A-Za-z]", core):
                core = core.replace(".", "")
            if core:
                kept = core if self.boosting.keeps_case(core) else core.lower()
                plain.append(replace(word, text=kept))
        return plain


def _one_spelling(words: Sequence[Word]) -> list[Word]:
    result: list[Word] = []
    for word in words:
        if result and (joined := _PAIRS.get((result[-1].text.lower(), split(word.text)[1].lower()))):
            first = result.pop()
            text = joined.capitalize() if first.text[0].isupper() else joined
            word = Word(text + split(word.text)[2], first.start_ms, word.end_ms, min(first.confidence, word.confidence))
        result.append(word)
    return result


def _veiled(word: Word) -> Word:
    before, core, after = split(word.text)
    if core.lower() in _PROFANE:
        return replace(word, text=f"{before}{core[0]}{'*' * (len(core) - 1)}{after}")
    return word
