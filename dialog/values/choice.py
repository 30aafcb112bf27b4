"""One of a few choices: by its name, a word that only it has, its number or its place in the list.

value the choice, as it is written in the list
"""

from __future__ import annotations

from rapidfuzz import fuzz

from dialog.values import normalise
from dialog.values.number import UNITS
from dialog.values.place import states
from dialog.values.tokens import Token, tokenise, word_set
from dialog.values.types import ParseContext, Value

CUT_OFF = 80
ORDINALS = {
    word: number
    for number, words in enumerate(
        ("first 1st former", "second 2nd", "third 3rd", "fourth 4th", "fifth 5th", "sixth 6th", "seventh 7th")
    )
    for word in words.split()
}
BESIDE = word_set("the one option choice number no please i want take ill go with for that a an in is it to key")
EMPTY = word_set("the a an of in at and or for to on one")


class ChoiceParser:
    """Reads type `choice`; what may be chosen stands in the context."""

    def find(self, line: str, context: ParseContext) -> list[Value]:
        tokens = tokenise(line)
        keys = [token.key for token in tokens]
        names = [(tuple(token.key for token in tokenise(choice)), choice) for choice in context.choices]
        names.sort(key=lambda name: -len(name[0]))
        found, i = [], 0
        while i < len(tokens):
            for words, choice in names:
                if words and tuple(keys[i : i + len(words)]) == words:
                    found.append(_value(line, tokens, i, i + len(words), choice, 1.0))
                    i += len(words)
                    break
            else:
                i += 1
        return found

    def answer(self, line: str, context: ParseContext) -> Value | None:
        tokens = tokenise(line)
        if not tokens or not context.choices:
            return None
        found = self.find(line, context)
        if len({value.value for value in found}) == 1:
            return found[0]
        if found:
            return None
        keys = [token.key for token in tokens]
        by_place = self._by_place(keys, len(context.choices))
        if by_place is not None:
            i, index = by_place
            return _value(line, tokens, i, i + 1, context.choices[index], 1.0)
        first, last = normalise.trim(tokens)
        if first >= last or last - first > 6:
            return None
        return self._by_words(line, tokens, first, last, context.choices)

    def _by_place(self, keys: list[str], count: int) -> tuple[int, int] | None:
        """ "the second one", "number two", "2", "the last": the token, and which choice."""
        spoken = [i for i, key in enumerate(keys) if key not in BESIDE and key not in normalise.SMALL_WORDS]
        if not spoken and "one" in keys and keys.count("one") == 1 and "the" not in keys:
            return (keys.index("one"), 0)
        if len(spoken) != 1:
            return None
        key = keys[spoken[0]]
        if key in ("last", "latter"):
            return spoken[0], count - 1
        index = ORDINALS.get(key)
        if index is None and key.isdigit() and len(key) < 4:
            index = int(key) - 1
        if index is None and key in UNITS:
            index = UNITS[key] - 1
        return None if index is None or not 0 <= index < count else (spoken[0], index)

    def _by_words(
        self, line: str, tokens: list[Token], first: int, last: int, choices: tuple[str, ...]
    ) -> Value | None:
        keys = [token.key for token in tokens[first:last]]
        said = {_full(key) for key in keys if key not in EMPTY} or {_full(key) for key in keys} - EMPTY
        if not said:
            return None
        sets = [{_full(token.key) for token in tokenise(choice)} - EMPTY for choice in choices]
        fits = [i for i, words in enumerate(sets) if said & words and not said - words - BESIDE]
        if len(fits) == 1:
            return _value(line, tokens, first, last, choices[fits[0]], 0.95)
        if fits:
            return None
        text = " ".join(sorted(said))
        scores = [
            max(
                fuzz.ratio(text, " ".join(sorted(words))),
                *(fuzz.ratio(text, word) if len(word) >= 4 and len(said) == 1 else 0 for word in words),
            )
            if words
            else 0
            for words in sets
        ]
        best = max(range(len(choices)), key=lambda i: scores[i])
        if scores[best] < CUT_OFF or scores.count(scores[best]) > 1:
            return None
        return _value(line, tokens, first, last, choices[best], round(scores[best] / 100, 3))


def _full(key: str) -> str:
    """A state by its name: "maine" chooses "Portland, ME"."""
    code = states.BY_KEY.get(key)
    return key if code is None else states.NAMES[code].lower()


def _value(line: str, tokens: list[Token], first: int, end: int, choice: str, score: float) -> Value:
    start, stop = tokens[first].start, tokens[end - 1].end
    return Value(type="choice", text=line[start:stop], start=start, end=stop, value=choice, score=score)
