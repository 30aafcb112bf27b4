"""What is published of a call and its channels: all that whoever goes on with it has to know.

Kept the same way from what we publish and from what a successor finds published (recovery.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from asr.speaker_roles import SpeakerRoles
from tenor.events import Call, Heard, Transcript
from tenor.redaction.utterance import confirms

SPOKEN_ROLE = "assistant"
"""Who speaks with a synthetic voice. What plays it publishes its transcripts; nothing is recognised."""
CONTEXT_MS = 15_000
"""A number may go on in an utterance that begins within this of the last one."""


class ChannelPosition:
    """How far a channel is written down."""

    def __init__(self, *, shared: bool = False) -> None:
        """`shared`: by several people; a successor must know all that was said of it."""
        self._shared = shared
        self._first_offset: int | None = None
        self.heard_ms: int | None = None
        """Everything before this is written down; recognition resumes exactly here. None: nothing is yet."""
        self._heard_offset: int | None = None
        self._beyond: set[str] = set()
        """Utterances written down beyond `heard_ms`: those of a window that its recogniser heard together."""
        self.model = ""
        """What recognised it, as its transcripts say; empty: nothing was said yet."""
        self._finals: dict[int, tuple[Transcript, int]] = {}
        """What each voice said last but `okay`, and where it lies."""

    @property
    def transcript_offset(self) -> int | None:
        """From where a successor must read the transcripts topic to know all this."""
        if self._shared or self._heard_offset is None:
            return self._first_offset
        return min([self._heard_offset, *(offset for _, offset in self._finals.values())])

    def add(self, event: Transcript | Heard, offset: int) -> None:
        """`event` lies on the transcripts topic at `offset`."""
        if isinstance(event, Transcript):
            if not event.final:
                return
            self.model = event.model
            if not confirms(event.text):
                self._finals[event.channel] = event, offset
        if self._first_offset is None:
            self._first_offset = offset
        if self.heard_ms is None or event.heard_ms > self.heard_ms:
            self.heard_ms, self._heard_offset = event.heard_ms, offset
            self._beyond.clear()
        if isinstance(event, Transcript):
            self._beyond.add(event.utterance)
        for voice, (final, _) in list(self._finals.items()):
            if self.heard_ms - final.end_ms > CONTEXT_MS:
                del self._finals[voice]

    def has(self, final: Transcript) -> bool:
        """Whether it is written down: recognition was resumed before it."""
        return final.utterance in self._beyond

    def text_before(self, start_ms: int, voice: int) -> str:
        """What this voice said last but `okay`, if that was just before `start_ms`: a number may go on from there."""
        final, _ = self._finals.get(voice, (None, 0))
        return "" if final is None or start_ms - final.end_ms > CONTEXT_MS else final.text


@dataclass(slots=True)
class CallPosition:
    info: Call
    channels: dict[int, ChannelPosition] = field(default_factory=dict)
    live_offset: int | None = None
    """Where its `live` lies on the calls topic; None: it is not published yet."""
    audio_offset: int | None = None
    """Where its first audio lies, as far as is known."""
    roles: SpeakerRoles = field(init=False)
    """Of the voices that share its channel."""

    def __post_init__(self) -> None:
        self.roles = SpeakerRoles(self.info.speakers)

    @property
    def shared(self) -> bool:
        """Whether several people are on its one channel of audio."""
        return bool(self.info.speakers)

    def reopened(self, info: Call) -> CallPosition:
        """Where a call stands that was over and goes on."""
        again = CallPosition(info, self.channels, audio_offset=self.audio_offset)
        again.roles = self.roles
        return again

    def channel(self, number: int) -> ChannelPosition:
        return self.channels.setdefault(0 if self.shared else number, ChannelPosition(shared=self.shared))

    def add(self, event: Transcript | Heard, offset: int) -> None:
        """`event` of this call lies on the transcripts topic at `offset`."""
        self.channel(event.channel).add(event, offset)
        if self.shared and isinstance(event, Transcript) and event.final:
            self.roles.hear(event.channel, event.utterance, event.text)

    def transcript_offsets(self) -> Iterator[int]:
        """From where each channel's transcripts must be read again."""
        for channel in self.channels.values():
            if channel.transcript_offset is not None:
                yield channel.transcript_offset
