"""Riva's results as transcripts of a call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenor.events import Transcript, Word
from tenor.redaction import Redactor


class Speaker:
    """Whose words these are, and whether they may be shown as they were said."""

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
        if self._redactor is not None:
            text, words, _ = self._redactor.redact(text, words, before=before)
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
            heard_ms=heard_ms,
        )

    def interim(self, results: Sequence[Any], number: int, start_ms: int, end_ms: int, before: str) -> Transcript:
        """The results of one response are one text, cut where it becomes uncertain."""
        text = "".join(result.alternatives[0].transcript for result in results).strip()
        if self._redactor is not None:
            text, _, _ = self._redactor.redact(text, (), before=before, final=False)
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
