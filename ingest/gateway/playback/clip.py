"""A clip: one sentence on its way to the caller, synthesised while it is played."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

CHARACTER_MS: Final = 65
"""How long a character takes to be said, while the length of a sentence is not known."""


@dataclass(eq=False)
class Clip:
    turn: int
    text: str
    interruptible: bool = True
    filler: bool = False
    """Said while a turn is being taken, and no part of it."""
    written: bool = False
    """Shown in writing, too: its transcript is published already."""
    pcm: bytearray = field(default_factory=bytearray)
    """What is synthesised so far."""
    word_ends_ms: list[int] = field(default_factory=list)
    """As the server tells them."""
    requested: bool = False
    complete: bool = False
    """No more will be synthesised,"""
    failed: bool = False
    """because the server could not."""
    sent: int = 0
    """Bytes of it that were sent,"""
    heard: int = 0
    """and heard."""
    start_ms: int = 0
    """Position in the call at which it began to be heard."""

    def next_frame(self, size: int) -> bytes:
        """The next bytes to be sent, the last filled up with silence; empty if there are none yet, or no more."""
        frame = bytes(self.pcm[self.sent : self.sent + size])
        if len(frame) < size and not self.complete:
            return b""
        return frame.ljust(size, b"\0") if frame else b""

    @property
    def all_sent(self) -> bool:
        return self.complete and self.sent >= len(self.pcm)

    @property
    def all_heard(self) -> bool:
        return self.complete and self.heard >= len(self.pcm)

    def again(self) -> None:
        """From the beginning."""
        self.sent = self.heard = 0

    def heard_ms(self, rate: int) -> int:
        return min(self.heard, len(self.pcm)) * 500 // rate

    def words_heard(self, rate: int) -> list[tuple[str, int, int]]:
        """The words that were heard to their end, with their times from the clip's beginning."""
        words = self.text.split()
        ends = self._ends(words, rate)
        until = self.heard_ms(rate) if not self.all_heard else max(ends, default=0)
        starts = [0, *ends]
        return [(word, starts[at], ends[at]) for at, word in enumerate(words) if ends[at] <= until]

    def text_heard(self, rate: int) -> str:
        return " ".join(word for word, _, _ in self.words_heard(rate)) if self.heard else ""

    def _ends(self, words: list[str], rate: int) -> list[int]:
        if len(self.word_ends_ms) == len(words):
            return self.word_ends_ms
        # A server that does not tell, or counts other words than we do: the letters share the time.
        letters = [len(word) + 1 for word in words]
        known_ms = len(self.pcm) * 500 // rate
        total_ms = known_ms if self.complete else max(known_ms, len(self.text) * CHARACTER_MS)
        return [total_ms * end // sum(letters) for end in accumulate(letters)]
