"""What the tests of the parsers share: a clock, and lines of every kind."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from hypothesis import strategies as st

from dialog.values.tokens import word_list
from dialog.values.types import ParseContext, Parser, Value

# A Wednesday.
NOW = datetime(2026, 11, 18, 10, 0, tzinfo=ZoneInfo("America/New_York"))
CONTEXT = ParseContext(now=NOW, choices=("Portland, OR", "Portland, ME", "the blue one"))

WORDS = word_list(
    "in at near for to the a an of and or from next last this on by weather boston portland or me new york "
    "saint st. springfield mobile reading la l.a. d.c. kansas city los angelas sea attle tomorrow tonight "
    "friday sun weekend week day days after before in two twenty thirty hundred thousand and half dozen "
    "couple few point zero one 1 2 10 31 99 1/2 11/20 2026-11-20 2026-99-99 20th may march november christmas "
    "easter morning night at 5 pm oclock between through size xl large inch gb pounds lbs oz cheapest best "
    "rated red navy blue yes no nope maybe uh um please $5 50% i'm don't zip 60614 texas oregon paris "
    "qwertyville it's boise's jeans milk now later ago from month year fall spring sizes sz small medium extra double "
    "king queen s m l x by foot one ones pair pack color dark"
)

any_line = st.one_of(
    st.text(max_size=200),
    st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join),
    st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=6)), max_size=10).map(", ".join),
)


def check_contract(parser: Parser, line: str) -> None:
    """Nothing raises, spans lie in the line and in order, without overlaps; an answer says the words that it read."""
    found = parser.find(line, CONTEXT)
    end = 0
    for value in found:
        assert end <= value.start < value.end <= len(line)
        assert line[value.start : value.end] == value.text
        assert 0 < value.score <= 1
        end = value.end
    answer = parser.answer(line, CONTEXT)
    if answer is not None:
        assert 0 <= answer.start < answer.end <= len(line)
        assert line[answer.start : answer.end] == answer.text


def meanings(found: list[Value]) -> list[object]:
    return [value.value for value in found]
