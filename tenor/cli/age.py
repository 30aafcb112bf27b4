"""Ages as people write them: 12h, 30d, 8w."""

from __future__ import annotations

from tenor.errors import BadInput
from tenor.yaml_fields import quantity

UNITS = {"h": 3600, "d": 86_400, "w": 7 * 86_400}


def age(text: str) -> float:
    """In seconds, of what was given to --since."""
    found = quantity(text)
    if found is None or found[1] not in UNITS or found[0] <= 0:
        raise BadInput(f"--since takes an age such as 12h, 30d or 8w, not {text!r}")
    return found[0] * UNITS[found[1]]
