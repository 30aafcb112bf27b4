"""What all channels of a worker share."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from asr.riva import Recogniser
from tenor.bus import Bus
from tenor.redaction import Redactor
from tenor.settings import SpeechSettings


@dataclass(frozen=True)
class Bench:
    bus: Bus
    speech: SpeechSettings
    recogniser: Recogniser
    redactor: Redactor
    reads: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(8))
    """Pages being read again from the bus at once."""
