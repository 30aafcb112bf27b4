"""What is written down of a channel, kept the same way from what we publish and from what is found published."""

from __future__ import annotations

from tenor.events import Heard, Transcript
from tenor.redaction.utterance import confirms

CONTEXT_MS = 15_000
"""A number may go on in an utterance that begins within this of the last one."""


class Ledger:
    def __init__(self) -> None:
        self.heard_ms: int | None = None
        """Everything before this is written down; hearing resumes exactly here. None: nothing is yet."""
        self._heard_at: int | None = None
        self._further: set[str] = set()
        """Utterances written down beyond `heard_ms`: those of a window that its recogniser heard together."""
        self._final: Transcript | None = None
        self._final_at = 0

    def enter(self, event: Transcript | Heard, offset: int) -> None:
        """`event` lies on the transcripts topic at `offset`."""
        if isinstance(event, Transcript):
            if not event.final:
                return
            if not confirms(event.text):
                self._final, self._final_at = event, offset
        if self.heard_ms is None or event.heard_ms > self.heard_ms:
            self.heard_ms, self._heard_at = event.heard_ms, offset
            self._further.clear()
        if isinstance(event, Transcript):
            self._further.add(event.utterance)
        if self._final is not None and self.heard_ms - self._final.end_ms > CONTEXT_MS:
            self._final = None

    @property
    def offset(self) -> int | None:
        """From where a successor must read transcripts to know all this."""
        if self._final is not None and self._heard_at is not None:
            return min(self._final_at, self._heard_at)
        return self._heard_at

    def has(self, final: Transcript) -> bool:
        """Whether it is written down: hearing was resumed before it."""
        return final.utterance in self._further

    def before(self, start_ms: int) -> str:
        """What was said last but `okay`, if that was just before `start_ms`: a number may go on from there."""
        if self._final is None or start_ms - self._final.end_ms > CONTEXT_MS:
            return ""
        return self._final.text
