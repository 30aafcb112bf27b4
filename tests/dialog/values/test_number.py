"""Numbers, quantities and sizes, as they are typed and spoken."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialog.values.number import TENS, UNITS, NumberParser, read_number
from dialog.values.quantity import QuantityParser
from dialog.values.shop.size import SizeParser
from tests.dialog.values.lines import CONTEXT, meanings

NUMBERS, QUANTITIES, SIZES = NumberParser(), QuantityParser(), SizeParser()


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("2", 2),
        ("two", 2),
        ("thirty two", 32),
        ("thirty-two", 32),
        ("a hundred and five", 105),
        ("two hundred fifty", 250),
        ("two thousand three hundred", 2300),
        ("1,000", 1000),
        ("2.5", 2.5),
        ("one point five", 1.5),
        ("ten and a half", 10.5),
        ("2 1/2", 2.5),
        ("half", 0.5),
        ("a dozen", 12),
        ("half a dozen", 6),
        ("two dozen", 24),
        ("a couple", 2),
        ("5 thousand", 5000),
        ("uh two please", 2),
        ("i think three", 3),
        ("four of them", 4),
        ("zero", 0),
    ],
)
def test_a_number_is_read_as_an_answer(line: str, number: float) -> None:
    value = NUMBERS.answer(line, CONTEXT)
    assert value is not None
    assert value.value == number
    assert isinstance(value.value, int) == (number == int(number))


@pytest.mark.parametrize("line", ["", "yes", "a", "the cheap one", "boston", "two cities", "9" * 400, "one two three"])
def test_what_is_no_number_answers_no_question_for_one(line: str) -> None:
    assert NUMBERS.answer(line, CONTEXT) is None


def test_numbers_are_found_in_a_line() -> None:
    assert meanings(NUMBERS.find("two bananas and twenty five apples for 3.50", CONTEXT)) == [2, 25, 3.5]
    assert meanings(NUMBERS.find("the cheapest one of them, which one is it", CONTEXT)) == []
    assert meanings(NUMBERS.find("one two three", CONTEXT)) == [1, 2, 3]


@given(st.integers(0, 99))
def test_every_spoken_number_below_a_hundred_is_read(number: int) -> None:
    units = {value: word for word, value in UNITS.items()}
    tens = {value: word for word, value in reversed(TENS.items())}
    words = (
        [units[number]] if number < 20 else [tens[number - number % 10], *([units[number % 10]] if number % 10 else [])]
    )
    assert read_number(words, 0) == (len(words), number)


@pytest.mark.parametrize(
    ("line", "amount", "unit"),
    [
        ("two pounds of salmon", 2, "pound"),
        ("2 lbs of salmon", 2, "pound"),
        ("2lbs", 2, "pound"),
        ("half a pound of ham", 0.5, "pound"),
        ("a pound of butter", 1, "pound"),
        ("1/2 pound of ham", 0.5, "pound"),
        ("two and a half kilos of rice", 2.5, "kilogram"),
        ("16 oz of milk", 16, "ounce"),
        ("a gallon of milk", 1, "gallon"),
        ("ten feet of rope", 10, "foot"),
        ("a dozen eggs", 12, ""),
        ("three bananas", 3, ""),
        ("a pair of socks", 1, "pair"),
        ("how much is the gallon of milk", 1, "gallon"),
        ("how much is it gallon of milk", 1, "gallon"),
        ("what does the pair of boots cost", 1, "pair"),
        ("how much are to pounds of apples", 2, "pound"),
        ("two pairs of jeans", 2, "pair"),
        ("a couple of boxes of tea", 2, "box"),
        ("i need two car seats", 2, ""),
        ("give me 2 of those", 2, ""),
        ("do you have four winter tires", 4, ""),
    ],
)
def test_a_quantity_is_an_amount_and_a_unit(line: str, amount: float, unit: str) -> None:
    assert meanings(QUANTITIES.find(line, CONTEXT)) == [{"amount": amount, "unit": unit}]


@pytest.mark.parametrize(
    "line",
    [
        *("", "iphone 17", "size ten jeans", "open at 9 pm", "the cheapest one", "a 55 inch tv", "$5", "50% off"),
        *("five stars", "levi's 501", "i can do that", "within 10 miles", "below thirty degrees", "zero pounds"),
        *("in two days", "a twelve foot ladder", "the last pair", "the pounds of it"),
    ],
)
def test_other_numbers_are_no_quantities(line: str) -> None:
    assert QUANTITIES.find(line, CONTEXT) == []


@pytest.mark.parametrize(
    ("line", "amount", "unit"),
    [
        ("two", 2, ""),
        ("uh, about 3 pounds please", 3, "pound"),
        ("a dozen", 12, ""),
        ("just one", 1, ""),
        ("six bottles", 6, "bottle"),
    ],
)
def test_a_quantity_is_read_as_an_answer(line: str, amount: float, unit: str) -> None:
    value = QUANTITIES.answer(line, CONTEXT)
    assert value is not None
    assert value.value == {"amount": amount, "unit": unit}


@pytest.mark.parametrize(
    ("line", "size"),
    [
        ("do you have these in size ten and a half", "10.5"),
        ("size 10 running shoes", "10"),
        ("size ten", "10"),
        ("jeans size 32 by 34", "32x34"),
        ("jeans in 32x34", "32x34"),
        ("is it available in large", "L"),
        ("extra large please", "XL"),
        ("hoodie in 2XL", "XXL"),
        ("in size M", "M"),
        ("a medium hoodie", "M"),
        ("a 55 inch tv", "55 inch"),
        ('a 55" tv', "55 inch"),
        ("a twelve foot ladder", "12 foot"),
        ("16 gb of memory", "16 GB"),
        ("256gb iphone", "256 GB"),
        ("one terabyte drive", "1 TB"),
        ("a queen size mattress", "queen"),
        ("a king bed", "king"),
    ],
)
def test_a_size_is_found(line: str, size: str) -> None:
    assert meanings(SIZES.find(line, CONTEXT)) == [size]


@pytest.mark.parametrize(
    "line", ["", "small talk", "burger king", "drag queen", "two pounds of beef", "10 bananas", "what size is it"]
)
def test_other_words_are_no_sizes(line: str) -> None:
    assert SIZES.find(line, CONTEXT) == []


@pytest.mark.parametrize(
    ("line", "size"),
    [
        ("ten", "10"),
        ("uh a ten and a half please", "10.5"),
        ("medium", "M"),
        ("l", "L"),
        ("i wear an eleven", "11"),
        ("queen", "queen"),
    ],
)
def test_a_size_is_read_as_an_answer(line: str, size: str) -> None:
    value = SIZES.answer(line, CONTEXT)
    assert value is not None
    assert value.value == size


@pytest.mark.parametrize("line", ["", "yes", "boston", "what sizes do you have", "ten bananas"])
def test_what_is_no_size_answers_no_question_for_one(line: str) -> None:
    assert SIZES.answer(line, CONTEXT) is None
