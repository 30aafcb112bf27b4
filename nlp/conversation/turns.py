"""Who spoke when, from the words of final transcripts: what the figures of a conversation are counted from.

caller   |==== ======|             |=|        |==========
agent             |=====  ====|         |=======|
         a stretch    overlap      "mhm"   break-in
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from tenor.events import Heard, Transcript

BREATH_MS = 500
"""A shorter pause does not end a stretch of speech."""
REMARK_WORDS = 3
"""Fewer words than this ("mhm", "yes please") neither interrupt anybody nor end their monologue."""
LATE_MS = 30_000
"""A channel of which nothing is told when another is this far has no sound: the longest utterance is shorter."""


class Stretch(NamedTuple):
    channel: int
    start_ms: int
    end_ms: int
    words: int


class Quiet(NamedTuple):
    """Of a part of a call, in milliseconds: nobody speaks, the longest time of that, more than one speak."""

    silence: int
    longest: int
    overlap: int


@dataclass
class Side:
    """One channel."""

    role: str = ""
    words: int = 0
    stretches: list[Stretch] = field(default_factory=list)
    heard_ms: int = 0
    energy: float = 0.0
    loud_ms: int = 0

    @property
    def talk_ms(self) -> int:
        """Spoken, short pauses included."""
        return sum(stretch.end_ms - stretch.start_ms for stretch in self.stretches)

    @property
    def loudness(self) -> float | None:
        """Decibels of the mean energy of what was said."""
        return 10 * math.log10(self.energy / self.loud_ms) if self.loud_ms else None


class Talk:
    def __init__(self, channels: int) -> None:
        self._expected = channels
        self.sides: dict[int, Side] = {}

    def hear(self, event: Transcript | Heard) -> None:
        side = self.sides.setdefault(event.channel, Side())
        side.heard_ms = max(side.heard_ms, event.heard_ms)
        if isinstance(event, Transcript):
            side.role = event.role
            side.heard_ms = max(side.heard_ms, event.end_ms)
            self._speak(side, event)

    @property
    def position_ms(self) -> int:
        """How far the call has come, as far as anything is known of it."""
        return max((side.heard_ms for side in self.sides.values()), default=0)

    @property
    def settled_ms(self) -> int:
        """How far every channel is written down: before this nobody says anything that is not known."""
        latest = self.position_ms
        missing = self._expected > len(self.sides)
        heard = [side.heard_ms for side in self.sides.values()]
        return min([*heard, max(0, latest - LATE_MS)] if missing else heard, default=0)

    def quiet(self, until_ms: int) -> Quiet:
        changes = [(0, 0), (until_ms, 0)]
        for side in self.sides.values():
            for stretch in side.stretches:
                changes += [(min(stretch.start_ms, until_ms), 1), (min(stretch.end_ms, until_ms), -1)]
        changes.sort()
        silence = longest = overlap = speaking = since = run = 0
        for at_ms, change in changes:
            length = at_ms - since
            if not speaking:
                silence += length
                run += length
                longest = max(longest, run)
            elif length:
                run = 0
                overlap += length if speaking > 1 else 0
            speaking += change
            since = at_ms
        return Quiet(silence, longest, overlap)

    def interruptions(self) -> dict[int, int]:
        """How often each channel broke in while another spoke and went on speaking."""
        counts = dict.fromkeys(self.sides, 0)
        speaking: list[Stretch] = []
        for stretch in self._in_order():
            speaking = [other for other in speaking if other.end_ms > stretch.start_ms]
            if stretch.words >= REMARK_WORDS:
                counts[stretch.channel] += any(
                    other.channel != stretch.channel
                    and stretch.start_ms - other.start_ms >= BREATH_MS
                    and other.end_ms - stretch.start_ms >= BREATH_MS
                    for other in speaking
                )
            speaking.append(stretch)
        return counts

    def monologues(self, pause_ms: int = 3000) -> dict[int, int]:
        """The longest time each channel spoke while no other had more than a remark to make."""
        longest = dict.fromkeys(self.sides, 0)
        holder, since, until = -1, 0, 0
        for stretch in self._in_order():
            if stretch.channel != holder or stretch.start_ms - until > pause_ms:
                if stretch.channel != holder and stretch.words < REMARK_WORDS:
                    longest[stretch.channel] = max(longest[stretch.channel], stretch.end_ms - stretch.start_ms)
                    continue
                holder, since = stretch.channel, stretch.start_ms
            until = stretch.end_ms
            longest[holder] = max(longest[holder], until - since)
        return longest

    def _in_order(self) -> Iterator[Stretch]:
        every = (stretch for side in self.sides.values() for stretch in side.stretches)
        return iter(sorted(every, key=lambda stretch: (stretch.start_ms, stretch.channel)))

    def _speak(self, side: Side, final: Transcript) -> None:
        spoken = [(word.start_ms, word.end_ms, 1) for word in final.words]
        if not spoken and final.text.strip():
            spoken = [(final.start_ms, final.end_ms, len(final.text.split()))]
        for start_ms, end_ms, words in spoken:
            last = side.stretches[-1] if side.stretches else None
            if last is not None and start_ms - last.end_ms <= BREATH_MS:
                end_ms = max(end_ms, last.end_ms)
                side.stretches[-1] = last._replace(end_ms=end_ms, words=last.words + words)
            else:
                side.stretches.append(Stretch(final.channel, start_ms, max(start_ms, end_ms), words))
            side.words += words
        if final.loudness is not None:
            length_ms = sum(end_ms - start_ms for start_ms, end_ms, _ in spoken)
            side.energy += length_ms * 10 ** (final.loudness / 10)
            side.loud_ms += length_ms
