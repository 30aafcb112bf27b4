"""Cards as people read them out and recognisers write them, put together by chance."""

from __future__ import annotations

import random
import re

import pytest

from tenor.redaction.numbers.runs import luhn, runs
from tenor.redaction.patterns import PatternRedactor
from tenor.redaction.tokens import tokenise
from tenor.redaction.utterance import confirms
from tests.tenor.redaction.test_interims import shown_too_soon

REDACTOR = PatternRedactor()
DIGITS = ["oh", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
LEADS = ["my card number is ", "it's ", "", "sure, the card is ", "okay so that's "]
BETWEEN = [
    " okay ",
    " that's right ",
    ", uh huh, ",
    " got it ",
    ". Yes. ",
    " ",
    ", ",
    " - ",
    " and ",
    " and then ",
    " uh ",
]
TAILS = ["", " thanks", " okay", " and it expires next year", " did you get that"]


def groups(chance: random.Random) -> list[str]:
    """A number with a fitting check digit, in groups as on the card."""
    start = "4" + "".join(chance.choices("0123456789", k=14))
    card = next(start + last for last in "0123456789" if luhn(start + last))
    return [card[:4], card[4:8], card[8:12], card[12:]]


def told(group: str, chance: random.Random) -> str:
    match chance.randrange(6):
        case 0:
            return group
        case 1:
            return "-".join(group)
        case 2:
            return " ".join(group)
        case 3 if group[0] != "0":
            return f"{group[0]},{group[1:]}"
        case 4:
            spoken = [DIGITS[int(digit)] for digit in group]
            return re.sub(r"(\w+) \1\b", r"double \1", " ".join(spoken))
    return ", ".join(DIGITS[int(digit)] for digit in group)


def left(text: str) -> str:
    """The digits that can still be read."""
    return "".join(run.digits for run in runs(tokenise(re.sub(r"\[[a-z ]+\]", " ", text))))


def test_no_group_can_be_read_however_it_was_told() -> None:
    chance = random.Random(1)
    for _ in range(500):
        said = "".join(told(group, chance) + chance.choice(BETWEEN) for group in groups(chance)).rstrip(" ,-")
        said = chance.choice(LEADS) + said + chance.choice(TAILS)
        assert left(REDACTOR.redact(said, ()).text) == "", said


@pytest.mark.parametrize("seed", range(20))
def test_nor_in_an_interim(seed: int) -> None:
    chance = random.Random(seed)
    said = chance.choice(BETWEEN[:5]).join(told(group, chance) for group in groups(chance))
    assert set(shown_too_soon(REDACTOR, chance.choice(LEADS) + said)) <= set("-")


def test_nor_when_every_group_is_an_utterance_of_its_own() -> None:
    chance = random.Random(2)
    for _ in range(100):
        before = ""
        for group in groups(chance):
            for said in (
                told(group, chance).replace(",", ""),
                chance.choice(["okay", "yes.", "uh-huh", "that's right"]),
            ):
                shown = REDACTOR.redact(said, (), before=before).text
                assert left(shown) == "", (before, said)
                before = before if confirms(shown) else shown
