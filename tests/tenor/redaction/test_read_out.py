"""Numbers read out digit by digit, as recognisers write them."""

from __future__ import annotations

import pytest

from tenor.redaction.patterns import PatternRedactor

EVERY = PatternRedactor(["number", "phone", "card", "account"])


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("nine four six", "[number]"),
        ("it's nine hundred forty six", "it's [number]"),
        ("No problem. It's seven hundred nineteen.", "No problem. It's [number]."),
        ("My phone number is four hundred seventy three, three hundred thirty nine, four eight two six.",
         "My phone number is [phone]."),
        ("my phone number is five", "my phone number is [phone]"),
        ("the set code is eight hundred seventy seven", "the set code is [number]"),
        ("five nine three to six", "[number]"),
        ("three seven too", "[number]"),
        ("my order number is 48213", "my order number is [number]"),
        ("my order ends in 4821 i think", "my order ends in [number] i think"),
        ("that was four seven three", "that was [number]"),
    ],
)  # fmt: skip
def test_every_number_that_is_read_out(said: str, kept: str) -> None:
    assert EVERY.redact(said, ()).text == kept


@pytest.mark.parametrize(
    "said",
    [
        "nine thirty a m until five p m",
        "we are open nine to five",
        "it is one hundred and twenty one dollars",
        "the amount is one hundred eleven dollars",
        "an appointment at two thirty",
        "one moment please",
        "oh oh oh oh",
        "three point two percent",
        "two thousand five hundred people",
    ],
)
def test_quantities_and_times_stay(said: str) -> None:
    assert EVERY.redact(said, ()).text == said


def test_a_telephone_number_in_pieces() -> None:
    before, shown = "", []
    for said in [
        "My phone number is five.",
        "one, zero.",
        "Three.",
        "five nine.",
        "six to two.",
        "two eight.",
        "nine point five.",
    ]:
        before = EVERY.redact(said, (), before=before).text
        shown.append(before)
    assert shown == ["My phone number is [phone].", *["[phone]."] * 6]
