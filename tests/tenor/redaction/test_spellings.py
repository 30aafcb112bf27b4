"""However a number is written and wherever it stands: no card stays readable, and hardly anything else."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from benchmarks.language.spelling_corpus import BY_FORM, KEYS, PER_KIND, ordinary, spellings
from benchmarks.language.spellings import readable
from tenor.redaction import KINDS
from tenor.redaction.patterns import LONGEST, USUAL, PatternRedactor

MADE = list(spellings())
FEW = {"phone": 2, "email": 4, "birth date": 4}
"""How many may stay readable. Nothing of the other kinds does."""


def test_the_corpus_is_what_it_says() -> None:
    assert len(MADE) == PER_KIND * len(KEYS) >= 5000
    assert len({one.text for one in MADE}) > 0.95 * len(MADE)
    assert list(spellings()) == MADE
    for one in MADE:
        assert one.secrets
        assert all(one.text[start:end] for start, end in one.secrets)
    assert {one.kind for one in MADE} >= BY_FORM


@pytest.mark.parametrize("kinds", [USUAL, KINDS, ("card",)], ids=["usual", "all", "card"])
def test_no_card_stays_readable(kinds: tuple[str, ...]) -> None:
    redactor = PatternRedactor(kinds)
    cards = [one for one in MADE if one.kind == "card"]
    assert [one.text for one in cards if readable(one, redactor.redact(one.text, ()).spans)] == []


@pytest.mark.parametrize("kinds", [USUAL, KINDS], ids=["usual", "all"])
def test_hardly_anything_else_stays_readable(kinds: tuple[str, ...]) -> None:
    redactor = PatternRedactor(kinds)
    left: Counter[str] = Counter()
    for one in MADE:
        if one.kind != "address":
            left[one.kind] += readable(one, redactor.redact(one.text, ()).spans)
    assert {kind: count for kind, count in left.items() if count > FEW.get(kind, 0)} == {}


CARDS = ("4111111111111111", "5500005555555559", "378282246310005")
DIGITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


def ways(card: str) -> list[str]:
    """What the corpus above has not: other scripts, words between the groups, several fields, what spreadsheets do."""
    sizes = (4, 6, 5) if len(card) == 15 else (4, 4, 4, 4)
    groups = [card[sum(sizes[:at]) : sum(sizes[: at + 1])] for at in range(len(sizes))]
    words = [" ".join(DIGITS[int(digit)] for digit in group) for group in groups]
    apart = [" minus ", " next ", " x ", ", now ", " followed by ", " (pause) ", ", let me see, ", "$", "%", "<wbr>"]
    apart += ["\u3164", "\x1b[1m", "</b><b data-i='1'>", "<!-- and -->", "</g><g>", " is the first part, "]
    return [
        *(separator.join(groups) for separator in apart),
        *(separator.join(words) for separator in (" wait ", " hang on a second ", ". And then ")),
        *("".join(chr(first + int(digit)) for digit in card) for first in (0x660, 0x966, 0xFF10, 0x1D7CE)),
        "".join("\u24ea\u2474\u2475\u2476\u2477\u2478\u2479\u247a\u247b\u247c"[int(digit)] for digit in card),
        "".join(f"%{ord(digit):x}" for digit in card),
        " ".join(f"&#{ord(digit)}" for digit in card),
        "".join(f"\\u{{{ord(digit):x}}}" for digit in card),
        "".join(DIGITS[int(digit)] for digit in card),
        "".join(digit if at % 2 else DIGITS[int(digit)] for at, digit in enumerate(card)),
        " ".join(f"{at}) {group}" for at, group in enumerate(groups, start=1)),
        "&".join(f"p{at}={group}" for at, group in enumerate(groups)),
        "".join(f'<input value="{group}">' for group in groups),
        "first it is {}, the next are {} and then {}".format(*groups[:2], " and ".join(groups[2:])),
        f"{card}.0",
        f"{int(card):,}.00",
        f"0000{card}",
        " ".join(groups).replace("0", "O").replace("1", "I"),
        f"john.{card}@example.com",
    ]


@pytest.mark.parametrize("kinds", [USUAL, KINDS, ("card",)], ids=["usual", "all", "card"])
def test_no_card_stays_readable_in_what_people_and_programs_write(kinds: tuple[str, ...]) -> None:
    redactor = PatternRedactor(kinds)
    left = []
    for card in CARDS:
        for way in ways(card):
            for form in ("{}", "my order number is {} okay", '{{"note": "{}"}}'):
                text = form.format(way)
                redacted = redactor.redact(text, ())
                kept = [char for at, char in enumerate(text) if not any(s <= at < e for s, e, _ in redacted.spans)]
                seen = re.sub(r"\bp\d=|data-i='1'", "", "".join(kept))
                if sum(char.isnumeric() for char in seen) + sum(word in DIGITS for word in seen.split()) > 4:
                    left.append((text, redacted.text))
    assert left == []


def test_a_long_text_is_cut_in_the_middle_of_no_number() -> None:
    redactor = PatternRedactor()
    for before in range(LONGEST - 80, LONGEST + 10):
        for secret in ("4111 1111 1111 1111", "four one one one " + 12 * "one "):
            text = ("hello there dear friends " * 100)[:before] + f" {secret} thank you all for it" * 2
            assert not re.search(r"\d|one", redactor.redact(text, ()).text)


def test_what_follows_a_card_goes_with_it() -> None:
    redactor = PatternRedactor()
    for tail in ("|12|2027|123", " 12/27 123", "=27121010000012345678"):
        assert redactor.redact(f"order 4111111111111111{tail}", ()).text == "order [card]"


def test_words_that_only_look_like_one_stay() -> None:
    redactor = PatternRedactor(KINDS)
    for text in (
        "Did you save the codes we issued at sign-up?",
        "How do I sign up w/o a credit card?",
        "How do I do a 401(k) rollover?",
        "It was 100+ per person.",
        "What is this -380 on Monday?",
        "The duty drops and you are owed R14,200.",
        "In the war (1919-1921) it was sold in 1920 and 1921 and 1922 and 1923.",
    ):
        assert redactor.redact(text, ()).text == text


def test_ordinary_figures_stay() -> None:
    redactor = PatternRedactor()
    masked = [text for text in ordinary() if redactor.redact(text, ()).spans]
    assert len(masked) <= 70


def test_the_number_of_an_order_is_no_account() -> None:
    text = "my order number is 48213990 okay"
    assert PatternRedactor().redact(text, ()).text == text
    assert PatternRedactor(KINDS).redact(text, ()).text == "my order number is [number] okay"
