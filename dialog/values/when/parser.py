"""Dates and stretches of days, as shoppers say them.

    value {"text": "tomorrow night", "from": "2026-11-19", "to": "2026-11-19", "part": "night"}

`part` (morning, afternoon, evening, night) and `now` (true) are there only when they were said. What phrases mean:

| phrase | days |
|---|---|
| this week | today to Sunday |
| next week | Monday to Sunday of the coming calendar week |
| this weekend, the weekend | the coming Saturday and Sunday; on a Sunday that day |
| next weekend | Saturday and Sunday of the coming calendar week |
| friday, this friday | the next Friday, today included |
| next friday | Friday of the coming calendar week |
| the next three days, the next few days | three days, beginning tomorrow |
| in the morning | this morning before noon, then tomorrow's |
| november 10 | the next one: of next year when it is past |
"""

from __future__ import annotations

from dialog.values import normalise
from dialog.values.tokens import Token, tokenise, word_set
from dialog.values.types import ParseContext, Value
from dialog.values.when.calendar_dates import Stretch
from dialog.values.when.grammar import Reader
from dialog.values.when.words import key_of

# Beside a date in an answer: "on friday i think", "i need it by friday".
BESIDE = (
    normalise.SMALL_WORDS
    | normalise.PREPOSITIONS
    | word_set(
        "i need it want would like that will be do during until till before after starting is for around sometime "
        "the day date anytime"
    )
)
MOST_WORDS = 400
"""Of a longer line only the beginning is read."""


# Words that recognisers cut in two or take for others, by the words that they hear.
MISHEARD = {
    "to night": "tonight", "to knight": "tonight", "two night": "tonight", "to day": "today", "to morrow": "tomorrow",
    "to date": "today",
    "two morrow": "tomorrow", "too morrow": "tomorrow", "after noon": "afternoon", "week end": "weekend",
    "weak end": "weekend", "we kend": "weekend", "fry day": "friday", "sun day": "sunday", "mon day": "monday",
    "tues day": "tuesday", "wends day": "wednesday", "wens day": "wednesday", "thirs day": "thursday",
    "thurs day": "thursday", "sat her day": "saturday", "satur day": "saturday", "mid night": "midnight",
    "mid knight": "midnight", "thanks giving": "thanksgiving", "yester day": "yesterday", "next weak": "next week",
    "this weak": "this week", "last weak": "last week", "last knight": "last night", "this mourning": "this morning",
    "nexed week": "next week", "this weak end": "this weekend", "next weak end": "next weekend",
    "last weak end": "last weekend", "2 morrow": "tomorrow", "2 nite": "tonight", "2 night": "tonight",
    "2 day": "today",
}  # fmt: skip
MISHEARD_WORDS = {tuple(heard.split()): meant.split() for heard, meant in MISHEARD.items()}
MISHEARD_FIRST = frozenset(heard[0] for heard in MISHEARD_WORDS)


class WhenParser:
    """Reads type `when`."""

    def find(self, line: str, context: ParseContext) -> list[Value]:
        tokens, reader = self._reader(line, context, asked=False)
        return [_value(line, tokens, first, end, stretch) for first, end, stretch in reader.all()]

    def answer(self, line: str, context: ParseContext) -> Value | None:
        tokens, reader = self._reader(line, context, asked=True)
        found = reader.all()
        if len(found) != 1:
            return None
        first, end, stretch = found[0]
        core_first, core_end = normalise.trim(tokens, prepositions=False)
        if any(token.key not in BESIDE for token in tokens[core_first:first] + tokens[end:core_end]):
            return None
        return _value(line, tokens, first, end, stretch)

    def _reader(self, line: str, context: ParseContext, *, asked: bool) -> tuple[list[Token], Reader]:
        tokens = _joined(tokenise(line)[:MOST_WORDS])
        breaks = frozenset(
            i
            for i in range(len(tokens))
            if i + 1 == len(tokens) or any(mark in line[tokens[i].end : tokens[i + 1].start] for mark in ",;.!?\n")
        )
        return tokens, Reader([key_of(token.key) for token in tokens], breaks, context.now, asked=asked)


def _joined(tokens: list[Token]) -> list[Token]:
    """The tokens with what was misheard as it was meant; positions stay those of the line."""
    joined: list[Token] = []
    i = 0
    while i < len(tokens):
        meant, n = None, 1
        if tokens[i].key in MISHEARD_FIRST:
            for n in (3, 2):
                heard = tuple(token.key for token in tokens[i : i + n])
                if heard in MISHEARD_WORDS:
                    meant, n = MISHEARD_WORDS[heard], len(heard)
                    break
        if meant is None:
            joined.append(tokens[i])
            i += 1
            continue
        joined += [token._replace(key=key) for token, key in zip(tokens[i:], meant, strict=False)]
        joined[-1] = joined[-1]._replace(end=tokens[i + n - 1].end)
        i += n
    return joined


def _value(line: str, tokens: list[Token], first: int, end: int, stretch: Stretch) -> Value:
    start, stop = tokens[first].start, tokens[end - 1].end
    text = line[start:stop]
    value: dict[str, object] = {"text": text, "from": stretch.first.isoformat(), "to": stretch.last.isoformat()}
    if stretch.part:
        value["part"] = stretch.part
    if stretch.now:
        value["now"] = True
    return Value(type="when", text=text, start=start, end=stop, value=value, score=stretch.score)
