"""Products: the words of a wish without what stands around them, and the catalogue's name for them when there is one.

value the product as text: the catalogue's name if it is known, else the words without articles and politeness
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from dialog.values import normalise
from dialog.values.shop.catalogue import Catalogue, stems
from dialog.values.tokens import Token, tokenise, word_set
from dialog.values.types import ParseContext, Value

LEADING = word_set(
    "a an the some any my your our their his her this that these those of for about on with to more other "
    "another few bit lot lots pair pairs piece pieces bunch thing things stuff"
)
TRAILING = word_set(
    "please thanks today tonight tomorrow now there here left available stock sale again instead then too "
    "also yet though anymore still in on at for of the a an and or is are cost costs price"
)
MOST_WORDS = 8
MISHEARD_SCORE = 0.9
NEVER = word_set(
    "it that this one ones them those these something anything nothing everything stuff thing things i me you "
    "yes no okay what which who where when why how there here none neither both all any whatever idk dunno "
    "its thats im dont know cheapest cheaper best first second third fourth last other same "
    "away far oh em "
    "return returns refund refunds exchange exchanges policy policies warranty warranties guarantee guarantees"
)


CLOCK = re.compile(
    r"(?:(?:at|past|after|before|until|till|by|around|about) )*"
    r"(?:midnight|noon|\d{1,2}(?::\d\d)? ?(?:am|pm|a\.m\.?|p\.m\.?|o'?clock))",
    re.IGNORECASE,
)
"""A time of day, which no product is called."""


_ENDS_NAME: Final = (
    r"(?:s?\s*(?:[.,;:!?]|$)|\s+(?:in|at|near|on|for|from|with|and|or|is|are|do|does|cost|costs|please|here|there|around|"
    r"under|over|today|tomorrow|nearby|now|that|restaurants?|places?|stores?|shops?|food|bars?)\b)"
)
"""What stands behind a name: other words go on with what they say ("we drive past a store")."""


def names_nothing(text: str) -> bool:
    """Whether the words name no thing: "that", "the first one", "9 pm", "your return policy"."""
    return bool(CLOCK.fullmatch(text)) or all(token.key in NEVER or token.key in LEADING for token in tokenise(text))


class ItemParser:
    """Reads type `item`. Without a catalogue `find` finds nothing: which words are a product, the model says."""

    kind = "item"

    def __init__(
        self, names: Iterable[str] = (), ordinary: Collection[str] = (), misheard: Mapping[str, str] = {}
    ) -> None:
        """`misheard` are names as recognisers write them ("genes")."""
        self.catalogue = Catalogue(names, ordinary)
        self.misheard = {stems(heard): meant for heard, meant in misheard.items()}
        cut = [heard for heard in misheard if " " in heard]
        self._cut = re.compile(rf"\b({'|'.join(map(re.escape, cut))})\b(?={_ENDS_NAME})", re.I) if cut else None
        """Names that a recogniser cut into other words ("past a"); the model would not see a name in them."""
        self._meant = {heard: misheard[heard] for heard in cut}

    def as_meant(self, line: str) -> str:
        """The line with the names that were cut into other words as they are."""
        return self._cut.sub(lambda found: self._meant[found[1].lower()], line) if self._cut is not None else line

    def find(self, line: str, context: ParseContext) -> list[Value]:
        tokens = tokenise(line)
        words = tuple(stems(token.key)[0] if token.key.isalpha() else token.key for token in tokens)
        found, i = [], 0
        while i < len(tokens):
            for n in range(min(self.catalogue.longest, len(tokens) - i), 0, -1):
                name = self.catalogue.names.get(words[i : i + n])
                if name is not None:
                    found.append(self._value(line, tokens, i, i + n, name, 1.0))
                    i += n
                    break
            else:
                i += 1
        return found

    def answer(self, line: str, context: ParseContext) -> Value | None:
        tokens = tokenise(line)
        first, last = normalise.trim(tokens)
        first, last = self._clean(tokens, first, last)
        if first >= last and self.catalogue.knows(line):  # "honey" is a thing, too
            first, last = 0, len(tokens)
        if first >= last or last - first > MOST_WORDS or all(token.key in NEVER for token in tokens[first:last]):
            return None
        if not any(token.key[0].isalpha() for token in tokens[first:last]):
            return None
        words = stems(line[tokens[first].start : tokens[last - 1].end])
        name, score = self.catalogue.exact(words), 1.0
        if name is None and words in self.misheard:
            name, score = self.misheard[words], MISHEARD_SCORE
        if name is None and (near := self.catalogue.like(words)) is not None:
            name, score = near
        if name is None:
            name, score = " ".join(line[tokens[first].start : tokens[last - 1].end].split()), 0.8
        return self._value(line, tokens, first, last, name, score)

    def clean(self, text: str) -> str:
        """The words of a span without articles and the like: "some of the oat milk please" is "oat milk"."""
        tokens = tokenise(text)
        first, last = self._clean(tokens, *normalise.trim(tokens))
        return " ".join(text[tokens[first].start : tokens[last - 1].end].split()) if first < last else ""

    def _clean(self, tokens: list[Token], first: int, last: int) -> tuple[int, int]:
        while first < last and tokens[first].key in LEADING:
            first += 1
        while last > first and tokens[last - 1].key in TRAILING:
            last -= 1
        return first, last

    def _value(self, line: str, tokens: list[Token], first: int, end: int, name: str, score: float) -> Value:
        start, stop = tokens[first].start, tokens[end - 1].end
        return Value(type=self.kind, text=line[start:stop], start=start, end=stop, value=name, score=score)
