"""Who gives the command, for the audit trail and receipts."""

from __future__ import annotations

import getpass


def me() -> str:
    """The account on this machine."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user id without a name, as containers have
        return "unknown"
