"""Riva's results as transcripts of a call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from asr.speaker_roles import SpeakerRoles
from tenor.events import Redaction, Transcript, Word
from tenor.redaction import Redactor
from tenor.redaction.silence import silenced


@dataclass(frozen=True, slots=True)
class SpokenPart:
    """What one voice says in an utterance without another."""

    channel: int
    text: str
    words: Sequence[Any]
    confidence: float


class TranscriptBuilder:
    """Knows whose words these are, and whether they may be shown as they were said."""

    def __init__(
        self,
        call: str,
        channel: int,
        role: str,
        redactor: Redactor | None,
        voices: SpeakerRoles | None = None,
    ) -> None:
        """`voices`: of those who share the channel, in place of the role."""
        self.call = call
        self.channel = channel
        self._role = role
        self._redactor = redactor
        self._voices = voices
        self.speaking = channel
        """The voice that spoke last."""

    @property
    def role(self) -> str:
        return self._role if self._voices is None else self._voices.roles[self.speaking]

    def parts(self, result: Any) -> list[SpokenPart]:
        """What was said, by whom: one part, unless people share the channel."""
        best = result.alternatives[0]
        text = best.transcript.strip()
        if self._voices is None or not best.words:
            return [SpokenPart(self.speaking, text, best.words, best.confidence)]
        runs = [
            (tag, tuple(run)) for tag, run in groupby(best.words, key=lambda word: max(1, min(word.speaker_tag, 2)))
        ]
        parts = []
        for number, (tag, words) in enumerate(runs, 1):
            end = len(text) if number == len(runs) else _end_of(text, words)
            parts.append(SpokenPart(tag - 1, text[:end].strip(), words, best.confidence))
            text = text[end:]
        return parts

    def final(self, part: SpokenPart, base_ms: float, *, heard_ms: int, before: str, model: str) -> Transcript:
        self.speaking = part.channel
        text, words = part.text, _words(part.words, base_ms)
        end_ms = words[-1].end_ms if words else heard_ms
        start_ms = words[0].start_ms if words else min(heard_ms, round(base_ms))
        redacted: tuple[Redaction, ...] = ()
        if self._redactor is not None:
            kept = self._redactor.redact(text, words, before=before)
            redacted = silenced(kept, start_ms, end_ms)
            text, words = kept.text, kept.words
        utterance = f"{self.call}/{part.channel}/{start_ms}"
        if self._voices is not None:
            self._voices.hear(part.channel, utterance, text)
        return Transcript(
            call=self.call,
            channel=part.channel,
            role=self.role,
            utterance=utterance,
            start_ms=start_ms,
            end_ms=end_ms,
            text=text,
            final=True,
            words=words,
            confidence=part.confidence,
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
            channel=self.speaking,
            role=self.role,
            utterance=f"{self.call}/{self.speaking}/~{number}",
            start_ms=start_ms,
            end_ms=max(start_ms, end_ms),
            text=text,
            final=False,
            stability=min(result.stability for result in results),
        )


def _end_of(text: str, words: Sequence[Any]) -> int:
    """Where the text ends that these words begin."""
    end = 0
    for word in words:
        found = text.find(word.word, end)
        end = found + len(word.word) if found >= 0 else end
    return end


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
