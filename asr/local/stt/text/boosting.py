"""Phrases the caller expects: told to the engine, and found in the text by sound and spelling.

Neither engine has a lexicon that could be weighted. So the engine is told the phrases before it decodes, as if they had
just been said; of the hypotheses that it offers, one with expected phrases is preferred to one that is only a little
likelier; and in what it wrote, a span that is spelled or sounds nearly like the phrase becomes the phrase. A larger
weight forgives more. Phrases of a small weight are only preferred; where the text has something that sounds a little
like one, the engine is asked whether the sound may have been it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz.distance import Levenshtein

from asr.local.stt.text.numbers import split_punctuation
from asr.local.stt.types import Boost, RecognizedWord

_STRICTEST = 0.86
_LOOSEST = 0.66
_FULL_WEIGHT = 20.0
_REWRITES_FROM = 6.0
"""A phrase of a smaller weight is never written in place of another; it has its casing, if that is not all small."""
_ALIKE = 0.55
"""A span that is at least so like an expected phrase may have been it: the sound decides,"""
_LEAST_LETTERS = 4
_MOST_PROPOSALS = 6
"""and is asked about so many spans."""
_PREFERENCE = 0.07
"""What a phrase in a hypothesis is worth for each unit of its weight, in log-probability of a token,"""
_MOST_PREFERENCE = 0.4
"""and what it is worth at most."""
_SOUNDS = (
    ("tch", "C"), ("sch", "S"), ("ph", "f"), ("gh", "g"), ("kn", "n"), ("wr", "r"), ("ck", "k"), ("sh", "S"),
    ("ch", "C"), ("th", "0"), ("qu", "kw"), ("x", "ks"), ("ce", "se"), ("ci", "si"), ("cy", "sy"), ("c", "k"),
    ("q", "k"), ("z", "s"), ("dg", "j"), ("v", "f"), ("d", "t"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Phrase:
    words: tuple[str, ...]
    letters: str
    sound: str
    needed: float


class PhraseBooster:
    """The boosts of one stream, made ready once."""

    def __init__(self, boosts: Sequence[Boost]) -> None:
        self._wanted = [
            _Phrase(tuple(boost.phrase.split()), letters, _sound(letters), _needed(boost.weight))
            for boost in boosts
            if (boost.weight >= _REWRITES_FROM or (boost.weight > 0 and boost.phrase != boost.phrase.lower()))
            and (letters := _letters(boost.phrase))
        ]
        self._expected = [
            (tuple(_letters(word) for word in boost.phrase.split()), min(_MOST_PREFERENCE, _PREFERENCE * boost.weight))
            for boost in boosts
            if boost.weight > 0 and _letters(boost.phrase)
        ]
        self._unwanted = [
            tuple(_letters(word) for word in boost.phrase.split())
            for boost in boosts
            if boost.weight < 0 and _letters(boost.phrase)
        ]
        words = [boost.phrase for boost in boosts if boost.weight >= _REWRITES_FROM and _letters(boost.phrase)]
        self.told = (*(f"{word}," for word in words[:-1]), *(f"{word}." for word in words[-1:]))
        """What the engine is told, as a list that somebody says."""
        self.suppresses = bool(self._unwanted)
        self._alike = [
            _Phrase(tuple(boost.phrase.split()), letters, _sound(letters), _ALIKE)
            for boost in boosts
            if 0 < boost.weight < _REWRITES_FROM and len(letters := _letters(boost.phrase)) >= _LEAST_LETTERS
        ]
        self.expects = bool(self._alike)
        """Whether phrases are proposed for what sounds like them."""
        self.chooses = bool(self._unwanted or self._expected)
        """Whether it matters what else the engine might have heard."""
        self._cased = {split_punctuation(word)[1] for phrase in self._wanted for word in phrase.words}

    def keeps_case(self, word: str) -> bool:
        return word in self._cased

    def unwanted_in(self, words: Sequence[RecognizedWord]) -> int:
        """How many suppressed phrases the words hold."""
        return sum(self._unwanted_at(words, at) > 0 for at in range(len(words)))

    def preference(self, words: Sequence[RecognizedWord]) -> float:
        """What the expected phrases in the words are worth, in log-probability of a token."""
        said = [_letters(part) for word in words for part in word.text.split("-")]
        return sum(
            worth
            for phrase, worth in self._expected
            if any(tuple(said[at : at + len(phrase)]) == phrase for at in range(len(said)))
        )

    def proposals(self, texts: Sequence[str]) -> list[list[str]]:
        """Wordings with expected phrases in place of what sounds a little like them: each by itself, and all that fit
        beside each other. What was expected and is there stays."""
        letters = [_letters(text) for text in texts]
        there = {
            at
            for phrase, _ in self._expected
            for first in range(len(letters) - len(phrase) + 1)
            if tuple(letters[first : first + len(phrase)]) == phrase
            for at in range(first, first + len(phrase))
        }
        found: list[tuple[float, int, int, _Phrase]] = []
        for phrase in self._alike:
            best = (phrase.needed, 0, 0)
            for at in range(len(letters)):
                for length in range(max(1, len(phrase.words) - 1), min(len(phrase.words) + 1, len(letters) - at) + 1):
                    span = "".join(letters[at : at + length])
                    longest = max(len(span), len(phrase.letters))
                    if there.isdisjoint(range(at, at + length)) and 2 * min(len(span), len(phrase.letters)) >= longest:
                        best = max(best, (_likeness(span, phrase), at, length))
            if best[2]:
                found.append((*best, phrase))
        found.sort(key=lambda one: one[0], reverse=True)
        del found[_MOST_PROPOSALS:]
        together: list[tuple[float, int, int, _Phrase]] = []
        for one in found:
            if all(one[1] + one[2] <= other[1] or other[1] + other[2] <= one[1] for other in together):
                together.append(one)
        chosen = [[one] for one in found] + ([together] if len(together) > 1 else [])
        return [_rewritten(texts, spans) for spans in chosen]

    def apply(self, words: Sequence[RecognizedWord]) -> list[RecognizedWord]:
        result: list[RecognizedWord] = []
        at = 0
        while at < len(words):
            if skipped := self._unwanted_at(words, at):
                at += skipped
                continue
            length, phrase = self._wanted_at(words, at)
            if phrase is None:
                result.append(words[at])
            else:
                result += _replaced(words[at : at + length], phrase.words)
            at += length
        return result

    def _unwanted_at(self, words: Sequence[RecognizedWord], at: int) -> int:
        for phrase in self._unwanted:
            found = tuple(_letters(word.text) for word in words[at : at + len(phrase)])
            if found == phrase:
                return len(phrase)
        return 0

    def _wanted_at(self, words: Sequence[RecognizedWord], at: int) -> tuple[int, _Phrase | None]:
        """The span from `at` that is most like one of the phrases, and like it enough."""
        best: tuple[float, int, _Phrase | None] = (0.0, 1, None)
        for phrase in self._wanted:
            most = len(phrase.words) + 2
            for length in range(1, min(most, len(words) - at) + 1):
                letters = "".join(_letters(word.text) for word in words[at : at + length])
                if abs(len(letters) - len(phrase.letters)) > len(phrase.letters) // 2 or not letters:
                    continue
                alike = _likeness(letters, phrase)
                if alike >= phrase.needed and alike > best[0]:
                    best = alike, length, phrase
        return best[1], best[2]


def _rewritten(texts: Sequence[str], spans: Sequence[tuple[float, int, int, _Phrase]]) -> list[str]:
    result = list(texts)
    for _, at, length, phrase in sorted(spans, key=lambda one: one[1], reverse=True):
        before, after = split_punctuation(texts[at])[0], split_punctuation(texts[at + length - 1])[2]
        words = list(phrase.words)
        if at == 0 and texts[0][:1].isupper():
            words[0] = words[0][:1].upper() + words[0][1:]
        result[at : at + length] = [before + words[0], *words[1:]] if len(words) > 1 else [before + words[0]]
        result[at + len(words) - 1] += after
    return result


def _needed(weight: float) -> float:
    if weight < _REWRITES_FROM:
        return 1.0  # only its casing
    return _STRICTEST - (_STRICTEST - _LOOSEST) * min(weight, _FULL_WEIGHT) / _FULL_WEIGHT


def _letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


@lru_cache(4096)
def _sound(letters: str) -> str:
    """Consonants by class, without repetitions; a vowel counts only at the start."""
    for spelling, sound in _SOUNDS:
        letters = letters.replace(spelling, sound)
    letters = letters[:1] + re.sub(r"[aeiouyhw]", "", letters[1:])
    return re.sub(r"(.)\1+", r"\1", letters)


def _likeness(letters: str, phrase: _Phrase) -> float:
    if letters == phrase.letters:
        return 1.0
    if min(len(letters), len(phrase.letters)) < 3:
        return 0.0
    spelled = 1 - Levenshtein.distance(letters, phrase.letters) / max(len(letters), len(phrase.letters))
    sound = _sound(letters)
    sounded = 1 - Levenshtein.distance(sound, phrase.sound) / max(len(sound), len(phrase.sound))
    return (spelled + sounded) / 2


def _replaced(span: Sequence[RecognizedWord], phrase: Sequence[str]) -> list[RecognizedWord]:
    """The phrase in place of the span, with the span's outer punctuation and its times shared out."""
    before, after = split_punctuation(span[0].text)[0], split_punctuation(span[-1].text)[2]
    texts = list(phrase)
    texts[0] = before + texts[0]
    texts[-1] += after
    start, end = span[0].start_ms, span[-1].end_ms
    edges = [start + (end - start) * part // len(texts) for part in range(len(texts) + 1)]
    if len(span) == len(texts):
        return [
            RecognizedWord(text, old.start_ms, old.end_ms, old.confidence)
            for text, old in zip(texts, span, strict=True)
        ]
    confidence = min(word.confidence for word in span)
    return [RecognizedWord(text, edges[part], edges[part + 1], confidence) for part, text in enumerate(texts)]
