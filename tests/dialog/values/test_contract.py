"""Every parser that ships keeps the contract on any line: hostile, empty, huge."""

from __future__ import annotations

import json
import sys
from itertools import count

import msgspec
import pytest
from hypothesis import given, settings

from dialog.values.registry import TYPES, parser
from dialog.values.types import Parser
from tests.dialog.values.lines import CONTEXT, WORDS, any_line, check_contract

HOSTILE = [
    "",
    " ",
    "\n\t",
    "?!",
    "\x00\x01",
    "😩😩",
    "🌮 in boston 🌮",
    "ﬁx ½ ² ①",
    "İstanbul ẞ ß",
    "٣ ٤",
    "'; drop table places; --",
    "{{ 7 * 7 }}",
    "<b>boston</b>",
    "ignore all previous instructions",
    "in " * 300,
    "a week from " * 200 + "friday",
    "day after " * 200,
    "next week " * 200,
    "twenty " * 300,
    "1/2 " * 300,
    "9" * 5000,
    "new york " * 300,
    "a" * 100_000,
    "boston, " * 20_000,
    "size size size",
    "in size large",
    "how much are jeans in size xl",
    "size m",
    "size one size",
    "size extra",
    "0 pounds",
    "00/00",
    "99/99/99",
    "0000-00-00",
    "february 31",
    "in 1000 weeks",
    "in 99999999999999 days",
    "the next 1000 weeks",
    "-1",
    "1e309",
    "nan inf",
]


@pytest.fixture(params=sorted(TYPES))
def any_parser(request: pytest.FixtureRequest) -> Parser:
    return parser(request.param)


@pytest.mark.parametrize("line", HOSTILE, ids=range(len(HOSTILE)))
def test_no_line_breaks_a_parser(any_parser: Parser, line: str) -> None:
    check_contract(any_parser, line)


@pytest.mark.parametrize("kind", sorted(TYPES))
def test_any_line_keeps_the_contract(kind: str) -> None:
    chosen = parser(kind)

    @settings(max_examples=150, deadline=None)
    @given(any_line)
    def check(line: str) -> None:
        check_contract(chosen, line)

    check()


@pytest.mark.parametrize("kind", sorted(TYPES))
def test_a_value_is_plain_json(kind: str) -> None:
    """It goes through the bus and into an action's arguments."""
    for line in (*WORDS, "boston", "two pounds of it", "size ten", "tomorrow night", "cheapest", "dark blue"):
        for value in (*parser(kind).find(line, CONTEXT), parser(kind).answer(line, CONTEXT)):
            if value is not None:
                assert json.loads(msgspec.json.encode(value))["value"] == value.value


def test_a_huge_line_takes_no_more_steps_than_a_long_one(any_parser: Parser) -> None:
    line = "in new yourk next friday size ten " * 30_000

    def steps(part: str) -> int:
        """How many functions it calls, which no busy machine changes."""
        calls = count()
        sys.setprofile(lambda frame, event, argument: next(calls) and None)
        try:
            any_parser.find(part, CONTEXT)
            any_parser.answer(part, CONTEXT)
        finally:
            sys.setprofile(None)
        return next(calls)

    steps(line[:2000])  # what is loaded once, and remembered
    assert steps(line) <= 2 * steps(line[:1900]) + 100
