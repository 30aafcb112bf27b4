"""What is said of stores, prices, stock and reservations."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from dialog.replies import status_of

NOW = datetime(2026, 11, 18, 10)
DENVER = {"name": "Denver", "state": "CO"}
STORE = {"name": "CarePoint", "type": "pharmacy", "address": "1 Main Street", "city": "Denver", "rating": 4.5,
         "distance_mi": 1.0, "opens": "09:00", "closes": "21:30", "telephone": "(303) 555-0100"}  # fmt: skip


def told(action: str, result: dict[str, Any], intent: str = "store_location", text: str = "", **slots: Any) -> str:
    return status_of(action, result, slots=slots, intent=intent, text=text, now=NOW)


def test_a_store_has_its_address_distance_and_hours() -> None:
    said = told("places", {"stores": [STORE]}, store="pharmacy", location=DENVER, sort="distance")
    assert said == (
        "The nearest pharmacy in Denver is CarePoint at 1 Main Street, rated 4.5 of 5, 1 mile from the center, "
        "open from 9 AM to 9:30 PM."
    )


def test_its_telephone_number_is_told_when_asked_for() -> None:
    said = told("places", {"stores": [STORE]}, text="what's their phone number", store="pharmacy", location=DENVER)
    assert "(303) 555-0100" in said


def test_the_time_to_get_there() -> None:
    said = told("places", {"stores": [STORE]}, intent="navigation.geteta", store="pharmacy", location=DENVER)
    assert "1 mile" in said
    assert "minutes" in said


def test_an_unknown_store_is_named_and_the_shopper_may_name_another() -> None:
    said = told("places", {"stores": [], "known": False}, store="zorbium shop", location=DENVER)
    assert said == "I couldn't find zorbium shop in Denver. Tell me what else to look for."


@pytest.mark.parametrize("action", ["prices", "stock", "product_info"])
def test_a_complete_answer_about_an_unknown_product_is_no_question(action: str) -> None:
    said = told(action, {"items": [], "known": False}, item="telescope")
    assert said.endswith("called telescope. Tell me another product and I will look it up.")


def test_prices() -> None:
    items = [{"name": "Slim Jeans", "price": 20.0, "currency": "USD", "store": "Hem"}]
    assert told("prices", {"items": items}, item="jeans") == "Slim Jeans costs $20.00 at Hem."
    assert told("prices", {"items": items}, item="jeans", sort="price.low").startswith("The cheapest jeans: Slim Jeans")


def test_a_known_product_in_a_wrong_size_is_no_question() -> None:
    said = told("prices", {"items": [], "known": True, "alternatives": []}, item="jeans", size="99")
    assert said == "I found no jeans in size 99."


def test_sold_out() -> None:
    items = [{"name": "Slim Jeans", "store": "Hem", "city": "Denver", "quantity": 0}]
    assert told("stock", {"items": items, "known": True}, item="jeans", location=DENVER).startswith("No, ")


def test_a_reservation_that_failed_says_why() -> None:
    said = told("reserve", {"reserved": False, "reason": "sold_out"}, item="jeans")
    assert "sold out" in said
    assert "nothing is reserved" in said
