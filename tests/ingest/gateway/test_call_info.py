"""Ids of calls, and what a platform tells about them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.gateway.call_info import call_info
from ingest.gateway.errors import Malformed
from ingest.gateway.ids import call_id
from tenor.settings import Settings


@given(st.text(min_size=1, max_size=300))
def test_ids_are_safe_and_stay_different(theirs: str) -> None:
    name = call_id("twilio", theirs)
    assert len(name) <= 80
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
    assert call_id("twilio", theirs) == name
    assert call_id("twilio", theirs + "/") != name


def test_a_call_without_an_id_is_none() -> None:
    with pytest.raises(Malformed):
        call_id("twilio", "")


@pytest.mark.parametrize(
    ("told", "field", "value"),
    [
        ({"Agent": "kim"}, "agent", "kim"),
        ({"from": "tel:+1555"}, "customer", "+1555"),
        ({"customer": "C7", "from": "+1555"}, "customer", "C7"),
        ({"from": "+1555", "to": "+1800", "x": "y"}, "attributes", {"x": "y"}),
        ({}, "record", True),
        ({"record": "false"}, "record", False),
        ({"record": True}, "record", True),
        ({"record": "perhaps"}, "record", False),
        ({}, "redact", None),
        ({"redact": "text"}, "redact", "text"),
        ({"redact": "yes"}, "redact", "audio"),
        ({"redact": "no"}, "redact", "off"),
        ({"redact": "whatever"}, "redact", "audio"),
        ({"language": None}, "language", "en-US"),
        ({"deep": {"a": 1}, "list": [1]}, "attributes", {"deep": "", "list": ""}),
    ],
)
def test_call_info(told: dict[str, Any], field: str, value: object) -> None:
    assert getattr(call_info(Settings(), "twilio", ("caller",), told, 0.0), field) == value


def test_call_info_is_bounded() -> None:
    told = {f"{number}" * 200: "x" * 10_000 for number in range(10_000)}
    attributes = call_info(Settings(), "twilio", ("caller",), told, 0.0).attributes
    assert len(attributes) <= 50
    assert max(map(len, attributes)) <= 64
    assert max(map(len, attributes.values())) <= 256
