"""What all channels of a worker share."""

from __future__ import annotations

from dataclasses import dataclass

from asr.model_choice import ModelChoice
from asr.riva.client import ExpectedPhrases, RivaClient
from tenor.bus import Bus
from tenor.bus.partitioned import Publish
from tenor.redaction import Redactor
from tenor.settings import SpeechSettings


@dataclass(frozen=True)
class AsrContext:
    bus: Bus
    publish: Publish
    speech: SpeechSettings
    riva: RivaClient
    redactor: Redactor
    models: ModelChoice
    expected: ExpectedPhrases
    """In calls that the assistant answers."""
