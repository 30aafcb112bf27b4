"""Addresses, whole and bit by bit, without any model."""

from __future__ import annotations

import pytest

from tenor.redaction.patterns import PatternRedactor

REDACTOR = PatternRedactor(["address", "number", "phone"])


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("My address is seven three three First Street.", "My address is [address]."),
        ("my home address is seven hundred twenty five", "my home address is [address]"),
        ("it's 2210 Oak Ridge Drive, Springfield, Illinois 62704", "it's [address]"),
        ("one o one main street forest ranch california", "[address]"),
        ("i live at 12 Quail Run Court apartment 4 b", "i live at [address]"),
        ("the city is Harper Valley", "the city is [address]"),
        ("the state is Oregon", "the state is [address]"),
        ("zip code six one two eight four", "zip code [address]"),
        ("my postcode is SW1A 1AA", "my postcode is [address]"),
        ("s w one a one a a", "[address]"),
        ("it is K1A 0B6, thanks", "it is [address], thanks"),
        ("we moved to Tewkesbury", "we moved to [address]"),
        ("California.", "[address]."),
        ("new york", "[address]"),
        ("P.O. Box 1234, Austin, TX 78701", "[address]"),
        ("p o box 1234", "[address]"),
        ("it goes to apartment 5B please", "it goes to apartment [address] please"),
        ("12 Oak Street, apartment 5B", "[address]"),
        ("Flat 12 Elm House", "[address]"),
        ("it's flat 2b, Elm House, thanks", "it's [address], thanks"),
        ("Flat 3, Rose Court, 14 High Street", "[address]"),
        ("flat two b rose court", "[address]"),
        ("unit 5 Maple Buildings", "[address]"),
        ("flat 2b 7 Baker Street", "[address]"),
    ],
)
def test_addresses_are_taken_out(said: str, kept: str) -> None:
    assert REDACTOR.redact(said, ()).text == kept


@pytest.mark.parametrize(
    "said",
    [
        "do you have a shop in Texas",
        "what is your address",
        "can you repeat the address one more time",
        "my email address is wrong",
        "it is across the street",
        "the store is on the road",
        "in one place at a time",
        "my apartment one day was cold",
        "it's a New York City apartment. Two girls live there",
        "I got the apartment 2 years ago",
        "two steps down the way",
        "your address has been changed",
        "a flat 12 percent fee",
        "the tyre went flat 12 miles from home",
        "we took unit 5 to court",
        "flat 2 for 1 offer",
        "room 12 is in the main building",
    ],
)
def test_a_place_alone_is_no_address(said: str) -> None:
    assert REDACTOR.redact(said, ()).text == said


def test_an_address_is_told_bit_by_bit() -> None:
    before, shown = "", []
    for said in [
        "my address is three six eight",
        "First Street",
        "in Harper Valley",
        "Oregon",
        "eight seven",
        "five one six",
    ]:
        before = REDACTOR.redact(said, (), before=before).text
        shown.append(before)
    assert shown == ["my address is [address]", "[address]", "in [address]", "[address]", "[address]", "[address]"]


def test_after_an_address_ordinary_talk_goes_on() -> None:
    for said in [
        "the one amount is of ten dollars",
        "no that was it thank you",
        "is there anything else",
        "okay great",
        "it arrived two days ago",
    ]:
        assert REDACTOR.redact(said, (), before="[address]").text == said
