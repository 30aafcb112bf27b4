"""One thing that was looked at, and the way out if it is not there."""

from __future__ import annotations

import dataclasses
import subprocess
from typing import Literal

PROGRAM_S = 10.0
"""How long a program may take that is only asked for its version."""


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing looked at. `note` is optional or not running yet; `bad` keeps Tenor from working."""

    what: str
    verdict: Literal["ok", "note", "bad"]
    detail: str
    remedy: str = ""


def answer_of(*command: str) -> str | None:
    """What a program prints; None if it is not there, fails or takes too long."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PROGRAM_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
