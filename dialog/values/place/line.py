"""A line as it is searched for places: its words, what stands before and after them."""

from __future__ import annotations

from typing import NamedTuple

from dialog.values.place import states
from dialog.values.place.gazetteer import Place, alternatives, gazetteer
from dialog.values.place.words import AFTER_STATE, BETWEEN, CUES, WEAK_CUES, WEATHER
from dialog.values.tokens import tokenise
from dialog.values.types import Value


class PlaceMatch(NamedTuple):
    first: int
    last: int
    """The last token, included."""
    places: list[Place]
    """Those of the name, the largest first."""
    score: float
    with_state: bool = False


class PlaceLine:
    """One line, looked up in the gazetteer."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.known = gazetteer()
        self.tokens = tokenise(text)
        self.keys = self.known.keys(self.tokens)
        last = len(self.tokens) - 1
        self._ends = {i for i in range(last + 1) if i == last or any(mark in self.gap(i) for mark in ",;:.!?()\n")}

    def __len__(self) -> int:
        return len(self.tokens)

    def words(self, first: int, last: int) -> str:
        """The words from one token to another, as they were said."""
        return self.text[self.tokens[first].start : self.tokens[last].end]

    def gap(self, i: int) -> str:
        """What is written between token `i` and the next."""
        return self.text[self.tokens[i].end : self.tokens[i + 1].start]

    def ends(self, i: int) -> bool:
        """Whether a phrase ends with token `i`."""
        return i in self._ends

    def capital(self, i: int) -> bool:
        return self.tokens[i].text[0].isupper()

    def after(self, i: int) -> str:
        """The next word of the same phrase, or nothing."""
        return "" if self.ends(i) else self.keys[i + 1]

    def cue(self, first: int) -> str:
        """What says that a place begins at `first`: `strong` ("in"), `weather` ("weather for"), `weak` ("for"), or
        nothing."""
        i = first - 1
        while i >= 0 and self.keys[i] in BETWEEN and not self.ends(i):
            if self.keys[i] == "downtown":
                return "strong"
            i -= 1
        if i < 0 or self.ends(i):
            return ""
        before = self.keys[i - 1] if i else ""
        if self.keys[i] in CUES or (self.keys[i] == "of" and before in ("city", "outside", "town")):
            return "strong"
        if self.keys[i] in WEAK_CUES:
            return "weather" if before in WEATHER else "weak"
        return ""

    def state(self, last: int, places: list[Place]) -> tuple[str, int]:
        """The state that stands after a name of these places, and its last token."""
        for end in range(min(last + states.LONGEST, len(self) - 1), last, -1):
            key = " ".join(token.key for token in self.tokens[last + 1 : end + 1])
            code = states.BY_KEY.get(key)
            gap = self.gap(last)
            if code is None or any(mark in gap for mark in ";:!?(\n") or ("." in gap and not gap.startswith(".,")):
                continue
            exists = any(place.state == code for place in places)
            if len(key) == 2 and not exists:
                continue
            if key in states.WORDS and not self.words(last + 1, end).isupper():
                closes = self.ends(end) or self.keys[end + 1] in AFTER_STATE
                if not (exists and closes):
                    continue
            return code, end
        return "", last

    def value(self, match: PlaceMatch) -> Value:
        others = () if match.with_state else tuple(place.value() for place in alternatives(match.places))
        return Value(
            type="place",
            text=self.words(match.first, match.last),
            start=self.tokens[match.first].start,
            end=self.tokens[match.last].end,
            value=match.places[0].value(),
            score=match.score,
            alternatives=others,
        )
