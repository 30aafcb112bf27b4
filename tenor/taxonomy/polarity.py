"""From where on a mood is more than neutral: one rule for every page, the playbook and the part in the browser."""

from __future__ import annotations

from typing import Literal

FELT = 0.15
"""Moods are from -1 to 1; less than this, either way, is neutral."""


def feeling(mood: float | None) -> Literal["negative", "neutral", "positive"]:
    if mood is None or abs(mood) < FELT:
        return "neutral"
    return "positive" if mood > 0 else "negative"
