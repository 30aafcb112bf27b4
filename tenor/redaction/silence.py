"""What a recording must not let hear."""

from __future__ import annotations

from tenor.events import Redaction
from tenor.redaction import RedactedText

PAD_MS, EDGE_MS = 200, 600
"""Recognisers know only roughly where a word begins and ends: a recording is silenced this much further, and more where
an utterance begins or ends in a secret, for there they miss some of it."""


def silenced(kept: RedactedText, start_ms: int, end_ms: int) -> tuple[Redaction, ...]:
    """The stretches to silence; all of the utterance when nobody knows where in it the secret was said."""
    times = kept.times
    if kept.spans and not times:
        times = tuple(Redaction(kind=span.kind, start_ms=start_ms, end_ms=end_ms) for span in kept.spans)
    found = []
    for time in times:
        lead = EDGE_MS if time.start_ms <= start_ms else PAD_MS
        tail = EDGE_MS if time.end_ms >= end_ms else PAD_MS
        found.append(Redaction(kind=time.kind, start_ms=max(0, time.start_ms - lead), end_ms=time.end_ms + tail))
    return tuple(found)
