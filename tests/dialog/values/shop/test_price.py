from __future__ import annotations

from datetime import datetime

import pytest

from dialog.values.shop.price import PriceParser
from dialog.values.types import ParseContext

CONTEXT = ParseContext(now=datetime(2026, 11, 18, 10))
PRICES = PriceParser()


@pytest.mark.parametrize(
    ("line", "limits", "words"),
    [
        ("headphones under 50 dollars", {"most": 50}, "under 50 dollars"),
        ("a coat for less than $100 please", {"most": 100}, "less than $100"),
        ("nothing over two hundred bucks", {"most": 200}, "nothing over two hundred bucks"),
        ("a tv over $1,500", {"least": 1500}, "over $1,500"),
        ("jeans between 20 and 40 dollars", {"least": 20, "most": 40}, "between 20 and 40 dollars"),
        ("$20 to $40 shirts", {"least": 20, "most": 40}, "$20 to $40"),
        ("laptops 800 dollars or less", {"most": 800}, "800 dollars or less"),
        ("something cheaper than 30", {"most": 30}, "cheaper than 30"),
    ],
)
def test_limits_are_found(line: str, limits: dict[str, float], words: str) -> None:
    [found] = PRICES.find(line, CONTEXT)
    assert found.value == limits
    assert line[found.start : found.end] == found.text == words


@pytest.mark.parametrize(
    "line",
    [
        "over 20 people", "under 30 minutes", "below 32 degrees", "between monday and friday", "two pounds of rice",
        "more than one store", "a 50 dollar gift card", "under the bridge", "from boston to dallas", "$", "",
    ],
)  # fmt: skip
def test_other_numbers_are_no_limits(line: str) -> None:
    assert PRICES.find(line, CONTEXT) == []


def test_a_bare_amount_answers() -> None:
    answer = PRICES.answer("about 40 bucks", CONTEXT)
    assert answer is not None
    assert answer.value == {"most": 40}
    assert PRICES.answer("no idea", CONTEXT) is None
