"""What is published of a call and its channels: all that whoever goes on with it has to know.

Kept the same way from what we publish and from what a successor finds published (recovery.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tenor.events import Call, Heard, Transcript
from tenor.redaction.utterance import confirms

SPOKEN_ROLE = "assistant"
"""Who speaks with a synthetic voice. What plays it publishes its transcripts; nothing is recognised."""
CONTEXT_MS = 15_000
"""A number may go on in an utterance that begins within this of the last one."""


class ChannelPosition:
    """How far a channel is written down."""

    def __init__(self) -> None:
        self.heard_ms: int | None = None
        """Everything before this is written down; recognition resumes exactly here. None: nothing is yet."""
        self._heard_offset: int | None = None
        self._beyond: set[str] = set()
        """Utterances written down beyond `heard_ms`: those of a window that its recogniser heard together."""
        self.model = ""
        """What recognised it, as its transcripts say; empty: nothing was said yet."""
        self._final: Transcript | None = None
        self._final_offset = 0

    @property
    def transcript_offset(self) -> int | None:
        """From where a successor must read the transcripts topic to know all this."""
        if self._final is not None and self._heard_offset is not None:
            return min(self._final_offset, self._heard_offset)
        return self._heard_offset

    def add(self, event: Transcript | Heard, offset: int) -> None:
        """`event` lies on the transcripts topic at `offset`."""
        if isinstance(event, Transcript):
            if not event.final:
                return
            self.model = event.model
            if not confirms(event.text):
                self._final, self._final_offset = event, offset
        if self.heard_ms is None or event.heard_ms > self.heard_ms:
            self.heard_ms, self._heard_offset = event.heard_ms, offset
            self._beyond.clear()
        if isinstance(event, Transcript):
            self._beyond.add(event.utterance)
        if self._final is not None and self.heard_ms - self._final.end_ms > CONTEXT_MS:
            self._final = None

    def has(self, final: Transcript) -> bool:
        """Whether it is written down: recognition was resumed before it."""
        return final.utterance in self._beyond

    def text_before(self, start_ms: int) -> str:
        """What was said last but `okay`, if that was just before `start_ms`: a number may go on from there."""
        if self._final is None or start_ms - self._final.end_ms > CONTEXT_MS:
            return ""
        return self._final.text


@dataclass(slots=True)
class CallPosition:
    info: Call
    channels: dict[int, ChannelPosition] = field(default_factory=dict)
    live_offset: int | None = None
    """Where its `live` lies on the calls topic; None: it is not published yet."""

    def transcript_offsets(self) -> Iterator[int]:
        """From where each channel's transcripts must be read again."""
        for channel in self.channels.values():
            if channel.transcript_offset is not None:
                yield channel.transcript_offset
