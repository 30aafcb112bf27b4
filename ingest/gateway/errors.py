"""What a peer can do wrong, and what we cannot do for it. The text goes to the peer and to the log."""

from __future__ import annotations

import re


class Malformed(Exception):
    """The peer broke its own protocol. Says what was wrong, never what was said."""


class Unauthorized(Exception):
    """Not signed, wrongly signed, or signed for somebody else."""


class Full(Exception):
    """As many calls as `gateway.max_calls` allows are open, or the gateway is stopping."""


def unreadable(error: Exception) -> Malformed:
    """What a decoder found, without the peer's own words, which it quotes."""
    return Malformed(re.sub(r"'.*'", "'...'", str(error), flags=re.DOTALL)[:100])
