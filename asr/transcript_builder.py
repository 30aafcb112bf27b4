"""Riva's results as transcripts of a call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenor.events import Redaction, Transcript, Word
from tenor.redaction import RedactedText, Redactor

PAD_MS, EDGE_MS = 200, 600
"""Recognisers know only roughly where a word begins and ends: a recording is silenced this much further, and more where
an utterance begins or ends in a secret, for there they miss some of it."""


class TranscriptBuilder:
    """Knows whose words these are, and whether they may be shown as they were said."""

    def __init__(self, call: str, channel: int, role: str, redactor: Redactor | None) -> None:
        self.call = call
        self.channel = channel
        self.role = role
        self._redactor = redactor

    def final(self, result: Any, base_ms: float, *, heard_ms: int, before: str, model: str) -> Transcript:
        best = result.alternatives[0]
        text, words = best.transcript.strip(), _words(best.words, base_ms)
        end_ms = words[-1].end_ms if words else heard_ms
        start_ms = words[0].start_ms if words else min(heard_ms, round(base_ms))
        redacted: tuple[Redaction, ...] = ()
        if self._redactor is not None:
            kept = self._redactor.redact(text, words, before=before)
            redacted = _silenced(kept, start_ms, end_ms)
            text, words = kept.text, kept.words
        return Transcript(
            call=self.call,
            channel=self.channel,
            role=self.role,
            utterance=f"{self.call}/{self.channel}/{start_ms}",
            start_ms=start_ms,
            end_ms=end_ms,
            text=text,
            final=True,
            words=words,
            confidence=best.confidence,
            model=model,
            redacted=redacted,
            heard_ms=heard_ms,
        )

    def interim(self, results: Sequence[Any], number: int, start_ms: int, end_ms: int, before: str) -> Transcript:
        """The results of one response are one text, cut where it becomes uncertain."""
        text = "".join(result.alternatives[0].transcript for result in results).strip()
        if self._redactor is not None:
            text = self._redactor.redact(text, (), before=before, final=False).text
        return Transcript(
            call=self.call,
            channel=self.channel,
            role=self.role,
            utterance=f"{self.call}/{self.channel}/~{number}",
            start_ms=start_ms,
            end_ms=max(start_ms, end_ms),
            text=text,
            final=False,
            stability=min(result.stability for result in results),
        )


def _silenced(kept: RedactedText, start_ms: int, end_ms: int) -> tuple[Redaction, ...]:
    """What a recording must not let hear; all of the utterance when nobody knows where in it the secret was said."""
    times = kept.times
    if kept.spans and not times:
        times = tuple(Redaction(kind=span.kind, start_ms=start_ms, end_ms=end_ms) for span in kept.spans)
    found = []
    for time in times:
        lead = EDGE_MS if time.start_ms <= start_ms else PAD_MS
        tail = EDGE_MS if time.end_ms >= end_ms else PAD_MS
        found.append(Redaction(kind=time.kind, start_ms=max(0, time.start_ms - lead), end_ms=time.end_ms + tail))
    return tuple(found)


def _words(words: Any, base_ms: float) -> tuple[Word, ...]:
    return tuple(
        Word(
            text=word.word,
            start_ms=round(base_ms + word.start_time),
            end_ms=round(base_ms + word.end_time),
            confidence=word.confidence,
            speaker=word.speaker_tag,
        )
        for word in words
    )
