"""Which segments are heard together: windows as the server decodes them.

joint    |-one-|__|---two---|__|three|___________|   28 s of one channel, for recordings that nobody waits for
live     |-one- -two-|...........................|   one to three segments, in a window of 15, 20 or 30 s
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random

from finetune.train.whisper.segments import SpeechSegment, by_channel

JOINT_S = 28.0
LIVE_S = (15.0, 20.0, 30.0)
_BEFORE_MS, _AFTER_MS, _PAUSE_MS = (60, 320), (60, 250), (250, 560)
"""The server's detector opens and closes about so early and late; between utterances it puts a pause."""
_LIVE_GAP_MS = 700
"""Segments that are further apart are utterances of their own."""
_SILENCE_AFTER_S = 1.0
_SPLITS = ("train", "val")


@dataclass(frozen=True, slots=True)
class Piece:
    """A span of a channel's audio with its words."""

    segments: tuple[int, ...]
    start_ms: int
    end_ms: int
    pause_ms: int = 0
    """Silence after it."""


@dataclass(frozen=True, slots=True)
class WindowPlan:
    pieces: tuple[Piece, ...]
    seconds: float
    """The window's, at least; the spectrogram is never shorter than what is heard in it."""
    joint: bool

    @property
    def segments(self) -> tuple[int, ...]:
        return tuple(number for piece in self.pieces for number in piece.segments)


@dataclass(frozen=True, slots=True)
class WindowMix:
    """What kinds of windows are drawn."""

    live: float
    """Share of batches with windows as live speech is decoded."""
    noise_only: float
    """Share of segments without words that are heard in a window nevertheless."""


class WindowPlanner:
    """Plans windows from segments. The same segments and the same random numbers give the same plans."""

    def __init__(self, segments: Sequence[SpeechSegment], mix: WindowMix) -> None:
        self._segments = segments
        self._mix = mix
        self._channels = by_channel(segments)
        self._room = dict(self._rooms())

    def once(self) -> list[WindowPlan]:
        """Every segment with words, once, in joint windows: to be decoded. A window has segments of one split."""
        random = Random(0)
        spoken = [self._spoken(channel) for channel in self._channels]
        runs = [[n for n in channel if self._segments[n].split == split] for channel in spoken for split in _SPLITS]
        return [plan for run in runs for plan in self._joint(run, random)]

    def batches(self, random: Random, size: int) -> Iterator[list[WindowPlan]]:
        """Without an end. The windows of one batch have one length."""
        joint = self._epochs(random)
        spoken = [number for channel in self._channels for number in self._spoken(channel)]
        silent = [number for number in range(len(self._segments)) if not self._segments[number].text]
        while True:
            if random.random() < self._mix.live:
                seconds = random.choice(LIVE_S)
                yield [self._live(random, seconds, spoken, silent) for _ in range(size)]
            else:
                yield list(islice(joint, size))

    def _epochs(self, random: Random) -> Iterator[WindowPlan]:
        while True:
            plans = []
            for channel in self._channels:
                kept = [
                    number
                    for number in channel
                    if self._segments[number].text or random.random() < self._mix.noise_only
                ]
                # Another beginning each time, so that the neighbours in a window change.
                first = random.randrange(len(kept)) if kept else 0
                plans += self._joint(kept[first:], random) + self._joint(kept[:first], random)
            random.shuffle(plans)
            yield from plans

    def _joint(self, numbers: Sequence[int], random: Random) -> list[WindowPlan]:
        plans: list[WindowPlan] = []
        pieces: list[Piece] = []
        used = 0
        for number in numbers:
            piece = self._piece((number,), random)
            length = piece.end_ms - piece.start_ms + piece.pause_ms
            if pieces and used + length > JOINT_S * 1000:
                plans.append(WindowPlan(tuple(pieces), JOINT_S + _SILENCE_AFTER_S, joint=True))
                pieces, used = [], 0
            pieces.append(piece)
            used += length
        if pieces:
            plans.append(WindowPlan(tuple(pieces), JOINT_S + _SILENCE_AFTER_S, joint=True))
        return plans

    def _live(self, random: Random, seconds: float, spoken: Sequence[int], silent: Sequence[int]) -> WindowPlan:
        if silent and random.random() < self._mix.noise_only / 4:
            return WindowPlan((self._piece((random.choice(silent),), random),), seconds, joint=False)
        first = random.choice(spoken)
        numbers = [first]
        channel = next(channel for channel in self._channels if first in channel)
        for number in channel[channel.index(first) + 1 :][: random.randrange(3)]:
            gap = self._segments[number].start_ms - self._segments[numbers[-1]].end_ms
            if gap > _LIVE_GAP_MS or self._segments[number].end_ms - self._segments[first].start_ms > 14_000:
                break
            numbers.append(number)
        return WindowPlan((self._piece(tuple(numbers), random),), seconds, joint=False)

    def _spoken(self, channel: Sequence[int]) -> list[int]:
        return [number for number in channel if self._segments[number].text]

    def _piece(self, numbers: tuple[int, ...], random: Random) -> Piece:
        first, last = self._segments[numbers[0]], self._segments[numbers[-1]]
        before = min(random.randint(*_BEFORE_MS), self._room[numbers[0]][0])
        after = min(random.randint(*_AFTER_MS), self._room[numbers[-1]][1])
        return Piece(numbers, first.start_ms - before, last.end_ms + after, random.randint(*_PAUSE_MS))

    def _rooms(self) -> Iterator[tuple[int, tuple[int, int]]]:
        """How far a segment's margins may reach: not into what the same channel says before and after it."""
        for channel in self._channels:
            for at, number in enumerate(channel):
                one = self._segments[number]
                before = one.start_ms - (self._segments[channel[at - 1]].end_ms if at else 0)
                after = self._segments[channel[at + 1]].start_ms - one.end_ms if at + 1 < len(channel) else 10_000
                yield number, (max(before, 0), max(after, 0))
