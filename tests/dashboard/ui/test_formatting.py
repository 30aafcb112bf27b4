"""How numbers are written for people."""

from __future__ import annotations

import pytest

from dashboard.ui import formatting


@pytest.mark.parametrize(
    ("value", "written"),
    [(0.124, "+0.12"), (-0.126, "\u22120.13"), (0.0, "0.00"), (-0.002, "0.00"), (0.0049, "0.00"), (None, "\u2013")],
)
def test_nothing_has_no_sign(value: float | None, written: str) -> None:
    assert formatting.mood(value) == written
