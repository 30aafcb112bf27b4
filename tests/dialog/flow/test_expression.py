"""Conditions of flows: what they may ask, and that nothing in them runs code or fails."""

from __future__ import annotations

from typing import Any

import pytest

from dialog.flow.expression import Expression, ExpressionFault


@pytest.mark.parametrize(
    ("source", "context", "holds"),
    [
        ("results > 1 and not location", {"results": 2}, True),
        ("results > 1 and not location", {"results": 2, "location": {"name": "Omaha"}}, False),
        ("results > 1", {"results": [1, 2, 3]}, True),
        ("results > 1", {}, False),
        ("results < 1", {}, False),
        ("results == 0", {"results": []}, False),
        ("result.stores", {"result": {"stores": [{}]}}, True),
        ("result.stores", {"result": {"stores": []}}, False),
        ("result.stores.deep.down > 2", {"result": 3}, False),
        ("exists when", {"when": {"text": "today"}}, True),
        ("not exists when and exists(item)", {"item": "milk"}, True),
        ("exists result.price", {"result": {"price": 0}}, True),
        ("intent == 'exists when'", {"intent": "exists when"}, True),
        ("intent in ('weather.snow', 'weather.rainfall')", {"intent": "weather.snow"}, True),
        ("intent not in ['a', 'b']", {"intent": "c"}, True),
        ("location == 'Boston'", {"location": {"name": "Boston", "state": "MA"}}, True),
        ("10 < high <= 20", {"high": 20}, True),
        ("sample == true or sure == yes", {"sure": True}, True),
        ("rain is None", {}, True),
        ("price == 'x' or price != -1.5", {"price": -1.5}, False),
        ("retail_status", {"retail_status": "no"}, True),
        ("when.to >= '2026-11-18'", {"when": {"to": "2026-11-19"}}, True),
    ],
)
def test_a_condition_is_decided(source: str, context: dict[str, Any], holds: bool) -> None:
    assert Expression.parse(source).evaluate(context) is holds


def test_its_names_are_known() -> None:
    assert Expression.parse("a.b > 1 and not exists c or d in ('e', f) and true").names == {"a", "c", "d", "f"}


@pytest.mark.parametrize(
    "source",
    [
        "",
        "   ",
        "a +",
        "a = 1",
        "a + 1 > 2",
        "2 ** 9 ** 9",
        "__import__('os')",
        "open('x')",
        "a.b()",
        "a.__class__",
        "_a",
        "a[0]",
        "[x for x in y]",
        "lambda: 1",
        "(a := 1)",
        "f'{a}'",
        "b'x'",
        "1j",
        "...",
        "a if b else c",
        "exists(1)",
        "exists(a, b)",
        "(" * 240 + "a" + ")" * 240,
        "9" * 200,
        "a" * 600,
        "a\0b",
        "await a",
        "yield",
        "'a' 'b' @ c",
    ],
)
def test_a_condition_that_tries_more_is_refused(source: str) -> None:
    with pytest.raises(ExpressionFault) as fault:
        Expression.parse(source)
    assert fault.value.hint


@pytest.mark.parametrize(
    "value", [None, True, 0, float("nan"), pytest.param(10**5000, id="long"), "", [], {}, object(), [[]], "9" * 100]
)
def test_no_value_makes_it_fail(value: Any) -> None:
    for source in ("v", "v > 1", "v < w", "v == w", "v in w", "w in v", "not v", "exists v", "v.a.b", "v == v"):
        assert Expression.parse(source).evaluate({"v": value}) in (True, False)
        assert Expression.parse(source).evaluate({"w": value}) in (True, False)
