"""Names that the words around them give away, without any model."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tenor.redaction import Span
from tenor.redaction.patterns import PatternRedactor

REDACTOR = PatternRedactor(["person"])


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Hi, my name is Patricia Miller.", "Hi, my name is [person]."),
        ("my name is patricia miller i would like to pay a bill", "my name is [person] i would like to pay a bill"),
        ("my name's xiomara oyelaran and i lost my card", "my name's [person] and i lost my card"),
        ("My name is, uh, Grace.", "My name is, uh, [person]."),
        ("my last name is Brown", "my last name is [person]"),
        ("first name Ngozi last name Adeyemi", "first name [person] last name [person]"),
        ("this is Declan calling about my order", "this is [person] calling about my order"),
        ("Good morning, this is Emma speaking.", "Good morning, this is [person] speaking."),
        ("okay Mr. Kowalski one moment", "okay Mr. [person] one moment"),
        ("thank you doctor Okafor", "thank you doctor [person]"),
        ("it's spelled S-M-Y-T-H", "it's spelled [person]"),
        ("s m y t h", "[person]"),
        ("d for david u for uncle n for nora", "[person]"),
        ("k o double l e r", "[person]"),
        ("okay Mr. Al-Rashid one moment", "okay Mr. [person] one moment"),
    ],
)
def test_names_are_taken_out(said: str, kept: str) -> None:
    assert REDACTOR.redact(said, ()).text == kept


@pytest.mark.parametrize(
    "said",
    [
        "what is your name please",
        "may i have your last name",
        "the company name is smart electric",
        "what's the product name",
        "this is the third time i call",
        "this is ridiculous",
        "hello this is customer service how can i help you",
        "i was at the a t m",
        "my name is not on the list",
        "nine thirty a m until five p m",
    ],
)
def test_ordinary_talk_stays(said: str) -> None:
    assert REDACTOR.redact(said, ()).text == said


def test_a_name_may_come_in_the_next_utterance() -> None:
    assert REDACTOR.redact("Oluwaseun", (), before="and my name is").text == "[person]"
    assert REDACTOR.redact("Oluwaseun", (), before="and my parcel is").text == "Oluwaseun"


class Everything:
    """A finder that takes every word for a name."""

    def find(self, text: str, *, final: bool) -> Iterator[Span]:
        yield Span(0, len(text), "person")


def test_everyday_words_stay_whatever_a_model_thinks() -> None:
    redactor = PatternRedactor(["person"], Everything())
    assert redactor.redact("I would like to speak to Zbigniew please", ()).text == (
        "I would like to speak to [person] please"
    )


class Surname:
    """A finder that knows one name."""

    def find(self, text: str, *, final: bool) -> Iterator[Span]:
        start = text.find("Okafor")
        yield Span(start, start + len("Okafor"), "person")


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Chukwuemeka Okafor", "[person]"),
        ("I spoke to DeShawn Okafor Washington today", "I spoke to [person] today"),
        ("I spoke to Okafor-Jones today", "I spoke to [person] today"),
        ("I spoke to deshawn Okafor today", "I spoke to deshawn [person] today"),
        ("I'm from Springfield, Okafor", "I'm from Springfield, [person]"),
        ("Will Okafor come on Monday", "Will [person] come on Monday"),
        ("I met Captain Okafor June third", "I met [person] June third"),
        ("Thanks Okafor. Zurich is fine", "Thanks [person]. Zurich is fine"),
    ],
)
def test_a_name_in_writing_is_taken_out_whole(said: str, kept: str) -> None:
    assert PatternRedactor(["person"], Surname()).redact(said, ()).text == kept


def test_a_model_is_not_asked_about_other_kinds() -> None:
    assert PatternRedactor(["card"], Everything()).redact("hello Zbigniew", ()).text == "hello Zbigniew"
