"""Numbers come out in the form that was asked for, whichever form the engine wrote."""

from __future__ import annotations

import pytest

from asr.local.stt.text.numbers import to_spoken_form, to_written_form
from asr.local.stt.types import RecognizedWord


def words(text: str) -> list[RecognizedWord]:
    return [RecognizedWord(part, at * 100, at * 100 + 80, 0.9) for at, part in enumerate(text.split())]


def text(found: list[RecognizedWord]) -> str:
    return " ".join(word.text for word in found)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Thirty-five percent of forty equals fourteen.", "35% of 40 equals 14."),
        ("one moment please", "one moment please"),
        ("the first one or two", "the first one or two"),
        ("five one zero, three", "5103"),
        ("my number is 510-359-2829.", "my number is 5103592829."),
        ("510 359 2829", "5103592829"),
        ("one hundred and seventeen dollars.", "$117."),
        ("a hundred and one", "101"),
        ("two thirty p.m.", "2:30 p.m."),
        ("at 9.30 am", "at 9:30 am"),
        ("5 pm", "5 pm"),
        ("nineteen ninety nine", "1999"),
        ("two thousand and twenty", "2020"),
        ("twelve thousand five hundred", "12,500"),
        ("three point five percent", "3.5%"),
        ("the twenty first of March", "the 21st of March"),
        ("733 1st Street", "733 first Street"),
        ("ten and twenty", "10 and 20"),
        ("eleventh, twelfth", "11th, 12th"),
        ("hundred and", "hundred and"),
    ],
)
def test_number_words_become_digits(said: str, expected: str) -> None:
    assert text(to_written_form(words(said))) == expected


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        ("$117.", "one hundred seventeen dollars."),
        ("$1.50", "one dollar and fifty cents"),
        ("35%", "thirty five percent"),
        ("It's 2:30 p.m.", "It's two thirty p m"),
        ("21st, 12th 30th", "twenty first, twelfth thirtieth"),
        ("2,000 3.5 (12)", "two thousand three point five (twelve)"),
        ("510-359-2829", "five one zero three five nine two eight two nine"),
        ("1999 1500 2005", "nineteen ninety nine fifteen hundred two thousand five"),
        ("2020 4532", "twenty twenty four five three two"),
        ("007 b2b 9am", "zero zero seven b two b nine a m"),
        ("10-15", "ten fifteen"),
        ("719 First Street", "seven one nine First Street"),
        ("It's 946.", "It's nine four six."),
        ("473, 339, 4826", "four seven three, three three nine, four eight two six"),
        ("125 minutes or 150.", "one hundred twenty five minutes or one hundred fifty."),
        ("$121 at 215 a.m.", "one hundred twenty one dollars at two hundred fifteen a m"),
        ("5 PM. I am 30 p.m.? Am I?", "five p m. I am thirty p m? Am I?"),
    ],
)
def test_digits_become_words(seen: str, expected: str) -> None:
    found = to_spoken_form(words(seen))
    assert text(found) == expected
    assert not any(letter.isdigit() for letter in text(found))


def test_times_stay_with_the_words() -> None:
    assert to_written_form(words("pay thirty five dollars now"))[1] == RecognizedWord("$35", 100, 380, 0.9)
    first, second, third = to_spoken_form(words("$35"))
    assert (first.start_ms, third.end_ms) == (0, 80)
    assert first.end_ms == second.start_ms
