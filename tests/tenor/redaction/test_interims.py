"""An interim never shows what the final hides."""

from __future__ import annotations

import re

import pytest

from tenor.redaction import KINDS, RedactedText
from tenor.redaction.patterns import USUAL, PatternRedactor
from tests.tenor.redaction.test_addresses import test_addresses_are_taken_out as addresses
from tests.tenor.redaction.test_names import test_names_are_taken_out as names
from tests.tenor.redaction.test_patterns import SECRET
from tests.tenor.redaction.test_read_out import test_every_number_that_is_read_out as numbers

JOINTS = {"at", "and", "for", "new", "my", "a", "the", "flat", "unit"}
"""Words inside an e-mail address, a year, spelling, New York or before a door's number; alone they tell nothing."""


def said_in(test: object) -> list[str]:
    return [values[0] for mark in test.pytestmark for values in mark.args[1]]  # type: ignore[attr-defined]


SAID = [*(said for said, _ in SECRET), *said_in(names), *said_in(addresses), *said_in(numbers)]


def hidden(redacted: RedactedText, word: re.Match[str]) -> bool:
    return any(start < word.end() and word.start() < end for start, end, _ in redacted.spans)


def shown_too_soon(redactor: PatternRedactor, said: str, before: str = "") -> list[str]:
    """Words that some interim of the utterance shows and its final does not."""
    final = redactor.redact(said, (), before=before)
    words = list(re.finditer(r"\S*\w\S*", said))
    secret = [word for word in words if hidden(final, word) and word[0].lower() not in JOINTS]
    found = []
    for last in words:
        interim = redactor.redact(said[: last.end()], (), before=before, final=False)
        found += [word[0] for word in secret if word.end() <= last.end() and not hidden(interim, word)]
    return found


@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize("kinds", [KINDS, USUAL, ("card",), ("phone", "number")])
def test_word_by_word(said: str, kinds: tuple[str, ...]) -> None:
    assert shown_too_soon(PatternRedactor(kinds), said) == []


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("my card number is", "4111 1111 1111 1111"),
        ("[card]", "one one one one"),
        ("my name is", "Oluwaseun Adeyemi and i need help"),
        ("[address]", "Stony Point Oregon"),
        ("my email is", "sunny day at gmail dot com"),
        ("", "sure jsmith at harper valley bank dot com"),
        ("", "it's john smith at g mail dot com"),
        ("my password is", "flamingo forty two"),
        ("[card] okay", "got it one one one one"),
    ],
)
def test_word_by_word_after_what_was_said_before(before: str, said: str) -> None:
    assert shown_too_soon(PatternRedactor(KINDS), said, before) == []


@pytest.mark.parametrize("kinds", [KINDS, USUAL])
def test_ordinary_talk_is_shown_at_once(kinds: tuple[str, ...]) -> None:
    for said in ["hello i would like to", "can you tell me the status of my order", "thank you very much"]:
        assert PatternRedactor(kinds).redact(said, (), final=False).text == said


def test_what_is_unclear_waits_for_three_words() -> None:
    redactor = PatternRedactor(KINDS)
    assert redactor.redact("my sofa", (), final=False).text == "my …"
    assert redactor.redact("my sofa is", (), final=False).text == "my …"
    assert redactor.redact("my sofa is not here", (), final=False).text == "my sofa is not here"


def test_a_final_holds_nothing_back() -> None:
    assert PatternRedactor(KINDS).redact("my sofa", ()).text == "my sofa"
