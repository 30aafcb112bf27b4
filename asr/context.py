"""What all channels of a worker share."""

from __future__ import annotations

from dataclasses import dataclass

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
