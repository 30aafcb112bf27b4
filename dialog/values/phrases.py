"""The parser of a type whose values are a few fixed phrases each: sort orders, colours, yes and no."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rapidfuzz import fuzz, process

from dialog.values import normalise
from dialog.values.tokens import Token, tokenise, word_set
from dialog.values.types import ParseContext, Value

MISSPELT_FROM = 5
"""Letters a word must have before a misspelling of it is guessed, in an answer."""
CUT_OFF = 82

LEFT_OVER = word_set("one ones the a an color colour in please is it those them that some any something kind of")


class PhraseParser:
    """Finds the longest known phrase at every word."""

    def __init__(
        self,
        kind: str,
        phrases: Mapping[Any, str],
        *,
        not_before: Mapping[str, tuple[str, ...]] | None = None,
        only_before: Mapping[str, tuple[str, ...]] | None = None,
        left_over: frozenset[str] = LEFT_OVER,
    ) -> None:
        """`phrases` are separated by semicolons; `not_before` has the words after which a phrase is another thing
        (an empty one: the end of the line), `only_before` those without which it is none. `left_over` may stand beside
        the value in an answer."""
        self.kind = kind
        self.meanings = {
            tuple(token.key for token in tokenise(phrase)): meaning
            for meaning, joined in phrases.items()
            for phrase in joined.split(";")
        }
        self.longest = max(len(phrase) for phrase in self.meanings)
        self.first_words = frozenset(phrase[0] for phrase in self.meanings)
        self.not_before, self.only_before = not_before or {}, only_before or {}
        self.left_over = left_over
        self.words = {phrase[0]: meaning for phrase, meaning in self.meanings.items() if len(phrase) == 1}
        self.long_words = [word for word in self.words if len(word) >= MISSPELT_FROM]

    def find(self, line: str, context: ParseContext) -> list[Value]:
        tokens = tokenise(line)
        keys = [token.key for token in tokens]
        found, i = [], 0
        while i < len(tokens):
            n = self._length(keys, i)
            if n:
                found.append(self._value(line, tokens, i, i + n, self.meanings[tuple(keys[i : i + n])], 1.0))
            i += max(n, 1)
        return found

    def answer(self, line: str, context: ParseContext) -> Value | None:
        tokens = tokenise(line)
        keys = [token.key for token in tokens]
        first, last = normalise.trim(tokens)
        for start in range(last):
            n = self._length(keys, start, lenient=True)
            if not n:
                continue
            beside = keys[first:start] + self._without_same(
                keys[start + n : last], self.meanings[tuple(keys[start : start + n])]
            )
            if all(key in self.left_over or key in normalise.SMALL_WORDS for key in beside):
                return self._value(line, tokens, start, start + n, self.meanings[tuple(keys[start : start + n])], 1.0)
            return None
        inner = [i for i in range(first, last) if keys[i] not in self.left_over]
        if len(inner) != 1 or len(keys[inner[0]]) < MISSPELT_FROM:
            return None
        best = process.extractOne(keys[inner[0]], self.long_words, scorer=fuzz.ratio, score_cutoff=CUT_OFF)
        if best is None:
            return None
        return self._value(line, tokens, inner[0], inner[0] + 1, self.words[best[0]], round(best[1] / 100, 3))

    def _without_same(self, keys: list[str], meaning: Any) -> list[str]:
        """The words that do not say the same again: "yes, that's right"."""
        rest, i = [], 0
        while i < len(keys):
            n = self._length(keys, i, lenient=True)
            if n and self.meanings[tuple(keys[i : i + n])] == meaning:
                i += n
            else:
                rest.append(keys[i])
                i += 1
        return rest

    def _length(self, keys: list[str], i: int, *, lenient: bool = False) -> int:
        if keys[i] not in self.first_words:
            return 0
        for n in range(min(self.longest, len(keys) - i), 0, -1):
            phrase = tuple(keys[i : i + n])
            if phrase not in self.meanings:
                continue
            following = keys[i + n] if i + n < len(keys) else ""
            written = " ".join(phrase)
            if not lenient and following in self.not_before.get(written, ()):
                return 0
            if written in self.only_before and following not in self.only_before[written]:
                return 0
            return n
        return 0

    def _value(self, line: str, tokens: list[Token], first: int, end: int, meaning: Any, score: float) -> Value:
        start, stop = tokens[first].start, tokens[end - 1].end
        return Value(type=self.kind, text=line[start:stop], start=start, end=stop, value=meaning, score=score)
