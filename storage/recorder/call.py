"""One call being recorded: its audio, what is to be silenced in it, and when everything of it has been read."""

from __future__ import annotations

from dataclasses import dataclass, field

from storage.recorder.audio_buffer import AudioBuffer
from tenor.events import AUDIO, Call, CallState


@dataclass(slots=True)
class CallRecording:
    id: str
    buffer: AudioBuffer
    info: Call | None = None
    source_failed: bool = False
    """Its source broke, which is known from the audio topic. What was heard until then is all there is."""
    spans: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    over: CallState | None = None
    marks: dict[str, int] = field(default_factory=dict)
    """Offsets to read up to before it is finished."""
    due: float = 0.0
    touched: float = 0.0
    first: dict[str, int] = field(default_factory=dict)
    """By topic, the offset of its first record."""

    @property
    def has_audio(self) -> bool:
        """Whether it was ever on the audio topic: conversations in writing are not."""
        return AUDIO.name in self.first

    def may_be_kept(self) -> bool:
        if self.info is None or not self.info.record or self.buffer.empty:
            return False
        # Not heard to the end, so not all that is to be silenced is known.
        unheard = self.over is None or (self.over.state == "failed" and not self.source_failed)
        return not (unheard and self.info.redact == "audio")

    def silenced(self) -> dict[int, list[tuple[int, int]]]:
        if self.info is None or self.info.redact != "audio":
            return {}
        if self.info.speakers:  # who share a channel of audio, whatever the number of their voice
            return {0: sorted(span for spans in self.spans.values() for span in spans)}
        return self.spans
