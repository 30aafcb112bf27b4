"""Who spoke when, from the words of final transcripts: what the metrics of a conversation are counted from.

caller   |==== ======|             |=|        |==========
agent             |=====  ====|         |=======|
         a turn       overlap      "mhm"   interruption
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from tenor.events import Heard, Transcript

BREATH_MS = 500
"""A shorter pause does not end a turn."""
REMARK_WORDS = 3
"""Fewer words than this ("mhm", "yes please") neither interrupt anybody nor end their monologue."""
LATE_MS = 30_000
"""A channel of which nothing is known when another is this far has no sound: the longest utterance is shorter."""


class SpokenTurn(NamedTuple):
    """Speech of one channel, without a longer pause in it."""

    channel: int
    start_ms: int
    end_ms: int
    words: int


class SilenceAndOverlap(NamedTuple):
    """Of a part of a call, in milliseconds: nobody speaks, the longest time of that, more than one speak."""

    silence_ms: int
    longest_silence_ms: int
    overlap_ms: int


@dataclass
class ChannelTurns:
    """The turns of one channel, and what is known of it besides."""

    role: str = ""
    words: int = 0
    turns: list[SpokenTurn] = field(default_factory=list)
    heard_ms: int = 0
    energy: float = 0.0
    loud_ms: int = 0

    @property
    def talk_ms(self) -> int:
        """Spoken, short pauses included."""
        return sum(turn.end_ms - turn.start_ms for turn in self.turns)

    @property
    def loudness(self) -> float | None:
        """Decibels of the mean energy of what was said."""
        return 10 * math.log10(self.energy / self.loud_ms) if self.loud_ms else None


class Turns:
    def __init__(self, channels: int, *, shared: bool = False) -> None:
        """`shared`: all are on one channel of audio, so what is known of one is known of all."""
        self._shared = shared
        self._expected = channels
        self.channels: dict[int, ChannelTurns] = {}

    def hear(self, event: Transcript | Heard) -> None:
        channel = self.channels.setdefault(event.channel, ChannelTurns())
        channel.heard_ms = max(channel.heard_ms, event.heard_ms)
        if isinstance(event, Transcript):
            channel.role = event.role
            channel.heard_ms = max(channel.heard_ms, event.end_ms)
            self._speak(channel, event)

    def rename(self, roles: Mapping[int, str]) -> None:
        for number, role in roles.items():
            if number in self.channels:
                self.channels[number].role = role

    @property
    def position_ms(self) -> int:
        """How far the call has come, as far as anything is known of it."""
        return max((channel.heard_ms for channel in self.channels.values()), default=0)

    @property
    def settled_ms(self) -> int:
        """How far every channel is written down: before this nobody says anything that is not known."""
        latest = self.position_ms
        if self._shared:
            return latest
        missing = self._expected > len(self.channels)
        heard = [channel.heard_ms for channel in self.channels.values()]
        return min([*heard, max(0, latest - LATE_MS)] if missing else heard, default=0)

    def silence_and_overlap(self, until_ms: int) -> SilenceAndOverlap:
        changes = [(0, 0), (until_ms, 0)]
        for channel in self.channels.values():
            for turn in channel.turns:
                changes += [(min(turn.start_ms, until_ms), 1), (min(turn.end_ms, until_ms), -1)]
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
        return SilenceAndOverlap(silence, longest, overlap)

    def interruptions(self) -> dict[int, int]:
        """How often each channel broke in while another spoke and went on speaking."""
        counts = dict.fromkeys(self.channels, 0)
        speaking: list[SpokenTurn] = []
        for turn in self._in_order():
            speaking = [other for other in speaking if other.end_ms > turn.start_ms]
            if turn.words >= REMARK_WORDS:
                counts[turn.channel] += any(
                    other.channel != turn.channel
                    and turn.start_ms - other.start_ms >= BREATH_MS
                    and other.end_ms - turn.start_ms >= BREATH_MS
                    for other in speaking
                )
            speaking.append(turn)
        return counts

    def monologues(self, pause_ms: int = 3000) -> dict[int, int]:
        """The longest time each channel spoke while no other had more than a remark to make."""
        longest = dict.fromkeys(self.channels, 0)
        holder, since, until = -1, 0, 0
        for turn in self._in_order():
            if turn.channel != holder or turn.start_ms - until > pause_ms:
                if turn.channel != holder and turn.words < REMARK_WORDS:
                    longest[turn.channel] = max(longest[turn.channel], turn.end_ms - turn.start_ms)
                    continue
                holder, since = turn.channel, turn.start_ms
            until = turn.end_ms
            longest[holder] = max(longest[holder], until - since)
        return longest

    def _in_order(self) -> Iterator[SpokenTurn]:
        every = (turn for channel in self.channels.values() for turn in channel.turns)
        return iter(sorted(every, key=lambda turn: (turn.start_ms, turn.channel)))

    def _speak(self, channel: ChannelTurns, final: Transcript) -> None:
        spoken = [(word.start_ms, word.end_ms, 1) for word in final.words]
        if not spoken and final.text.strip():
            spoken = [(final.start_ms, final.end_ms, len(final.text.split()))]
        for start_ms, end_ms, words in spoken:
            last = channel.turns[-1] if channel.turns else None
            if last is not None and start_ms - last.end_ms <= BREATH_MS:
                end_ms = max(end_ms, last.end_ms)
                channel.turns[-1] = last._replace(end_ms=end_ms, words=last.words + words)
            else:
                channel.turns.append(SpokenTurn(final.channel, start_ms, max(start_ms, end_ms), words))
            channel.words += words
        if final.loudness is not None:
            length_ms = sum(end_ms - start_ms for start_ms, end_ms, _ in spoken)
            channel.energy += length_ms * 10 ** (final.loudness / 10)
            channel.loud_ms += length_ms
