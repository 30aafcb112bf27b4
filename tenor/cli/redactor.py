"""The redactor that the settings ask for."""

from __future__ import annotations

from tenor.redaction import Redactor
from tenor.settings import Settings


def redactor(settings: Settings) -> Redactor:
    from tenor.redaction.patterns import PatternRedactor

    return PatternRedactor(settings.speech.redact_kinds)
