"""Times as people write them, in one form everywhere: to a command, in a search."""

from __future__ import annotations

from datetime import datetime, timedelta

from tenor.errors import BadInput
from tenor.yaml.fields import quantity

AGES = {"h": 3600, "d": 86_400, "w": 7 * 86_400}


def parse_time(text: str) -> float:
    """2026-11-01 and 2026-11-01T09:30, with a zone or in ours; or how long ago: 12h, 30d, 8w."""
    age = quantity(text)
    try:
        if age is not None and age[0] > 0 and age[1] in AGES:
            return (datetime.now().astimezone() - timedelta(seconds=age[0] * AGES[age[1]])).timestamp()
        return datetime.fromisoformat(text).astimezone().timestamp()
    except (ValueError, OverflowError, OSError):
        raise BadInput(
            f"{text!r} is no time", "write 2026-11-01, 2026-11-01T09:30, or how long ago: 12h, 30d, 8w"
        ) from None


def parse_since(text: str) -> float:
    """Such a time; without one, the beginning."""
    return parse_time(text) if text else 0.0
