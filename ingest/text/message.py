"""What was written by somebody at some time: the unit every form of text is read into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Message:
    text: str
    speaker: str = ""
    """As the file names them; empty when it doesn't."""
    at: float | None = None
    """Seconds since the epoch; under `CLOCK_ONLY` a time of day without a date."""
    conversation: str = ""
    """Which of the file's conversations it belongs to; empty when there is only one."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """What else the file tells of the conversation: agent, customer, queue, site, subject."""


CLOCK_ONLY = 365 * 86400.0
"""Nobody chatted in 1970: a time before its end is a time of day, days counted from the first message."""
