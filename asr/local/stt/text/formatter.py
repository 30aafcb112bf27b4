"""From an engine's words to the text the caller asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from asr.local.stt.text.boosting import PhraseBooster
from asr.local.stt.text.numbers import split_punctuation, to_spoken_form, to_written_form
from asr.local.stt.types import RecognitionOptions, RecognizedWord

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


class TextFormatter:
    """Makes the text that the options of one stream ask for."""

    def __init__(self, options: RecognitionOptions) -> None:
        self._options = options
        self.boosting = PhraseBooster(options.boosts)

    def final(self, words: Sequence[RecognizedWord]) -> list[RecognizedWord]:
        formatted = self._formatted(words)
        return formatted if self._options.punctuation else self._plain(formatted)

    def interim(self, words: Sequence[RecognizedWord]) -> list[RecognizedWord]:
        """Always lower case and without punctuation, except what was boosted."""
        return self._plain(self._formatted(words))

    def _formatted(self, words: Sequence[RecognizedWord]) -> list[RecognizedWord]:
        formatted = one_spelling(self.boosting.apply(words))
        formatted = to_spoken_form(formatted) if self._options.verbatim else to_written_form(formatted)
        return [_masked(word) for word in formatted] if self._options.profanity_filter else formatted

    def _plain(self, words: Sequence[RecognizedWord]) -> list[RecognizedWord]:
        plain = []
        for word in words:
            core = word.text.strip(_MARKS)
            if re.fullmatch(r"(?:[A-Za-z]\.)+[A-Za-z]", core):
                core = core.replace(".", "")
            if core:
                kept = core if self.boosting.keeps_case(core) else core.lower()
                plain.append(replace(word, text=kept))
        return plain


def one_spelling(words: Sequence[RecognizedWord]) -> list[RecognizedWord]:
    result: list[RecognizedWord] = []
    for word in words:
        if result and (joined := _PAIRS.get((result[-1].text.lower(), split_punctuation(word.text)[1].lower()))):
            first = result.pop()
            text = joined.capitalize() if first.text[0].isupper() else joined
            word = RecognizedWord(
                text + split_punctuation(word.text)[2],
                first.start_ms,
                word.end_ms,
                min(first.confidence, word.confidence),
            )
        result.append(word)
    return result


def _masked(word: RecognizedWord) -> RecognizedWord:
    before, core, after = split_punctuation(word.text)
    if core.lower() in _PROFANE:
        return replace(word, text=f"{before}{core[0]}{'*' * (len(core) - 1)}{after}")
    return word
