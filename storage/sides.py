"""The two sides of a call, and turning them round when the platform told them the wrong way."""

from __future__ import annotations

CALLER, AGENT = "caller", "agent"
_OTHER = {CALLER: AGENT, AGENT: CALLER}


def side(role: str, swapped: bool) -> str:
    """Who really spoke, of a role as the platform told it."""
    return _OTHER.get(role, role) if swapped else role
