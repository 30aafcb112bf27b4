"""What a peer can do wrong, and what we cannot do for it. The text goes to the peer and to the log."""

from __future__ import annotations


class Malformed(Exception):
    """The peer broke its own protocol. Says what was wrong, never what was said."""


class Unauthorized(Exception):
    """Not signed, wrongly signed, or signed for somebody else."""


class Full(Exception):
    """As many calls as `gateway.max_calls` allows are open, or the gateway is stopping."""
