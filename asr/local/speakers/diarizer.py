"""The speakers of one stream, numbered from 1 in the order in which they are first heard.

    utterances   |----- 1 -----|   |--- 2 ---|  |---- 3 ----|
    windows       ---  ---  ---     ---  ---     ---  ---  ---     each a voice (encoder.py)
    groups        one              other         other     one     of all utterances so far (clustering.py)
    turns        |------ 1 ----|   |--- 2 ---|  |-- 2 --|- 1 -|    an utterance with two voices is cut between words

What was told is not told otherwise later: a number stays with the group that holds most of the speech it was
given to. All follows from the samples, so a stream that hears them again tells the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from asr.local.speakers.clustering import Groups, centre, cluster
from asr.local.speakers.encoder import Vectors, VoiceEncoder, VoiceWindow
from asr.local.stt.types import RecognizedWord

SURE_S = 45.0
"""After so much speech, what a new utterance tells hardly changes who said the earlier ones."""
_LONGEST_S = 4.0
"""A longer stretch counts no more than this."""
_CHANGE = 0.1
"""How much more alike the windows after a change must be to the other voice, in all."""
_SNAP_MS = 800
"""A change is between two words that are this near to where the windows say it is."""
_KEPT = 256
"""Stretches that are remembered; beyond, the shortest is forgotten, so that an hour costs no more than minutes."""


class SpeakerTurn(NamedTuple):
    end_ms: int
    speaker: int


@dataclass(eq=False, slots=True)
class _Stretch:
    """Speech of one voice, as far as is known."""

    vector: Vectors
    weight: float
    speaker: int = 0
    """0: not told yet."""


@dataclass(slots=True)
class _Utterance:
    windows: Sequence[VoiceWindow]
    vectors: Vectors
    stretch: _Stretch


class Diarizer:
    def __init__(self, encoder: VoiceEncoder, most: int) -> None:
        self._encoder = encoder
        self._most = most
        self._stretches: list[_Stretch] = []
        self._untold: dict[int, _Utterance] = {}
        """By where their speech begins."""
        self.speech_s = 0.0
        """All speech so far."""

    @property
    def untold_ms(self) -> int | None:
        """Where the first utterance begins of which nothing was told; None: there is none."""
        return next(iter(self._untold), None)

    def listen(self, samples: npt.NDArray[np.float32], offset_ms: int, speech_ms: tuple[int, int]) -> None:
        """The next utterance: its samples, which begin at `offset_ms`, and where in the stream its speech is."""
        start_ms, end_ms = speech_ms
        windows, vectors = self._encoder.encode(samples, start_ms - offset_ms, end_ms - offset_ms)
        self.speech_s += (end_ms - start_ms) / 1000
        windows = [VoiceWindow(one.start_ms + offset_ms, one.end_ms + offset_ms) for one in windows]
        stretch = _stretch(windows, vectors)
        self._stretches.append(stretch)
        self._untold[start_ms] = _Utterance(windows, vectors, stretch)

    def tell(self) -> dict[int, list[SpeakerTurn]]:
        """Who speaks in the utterances since it was last asked, by where their speech begins."""
        if not self._untold:
            return {}
        vectors = np.stack([stretch.vector for stretch in self._stretches])
        weights = np.array([stretch.weight for stretch in self._stretches])
        groups = cluster(vectors, weights, self._most)
        speakers = self._numbers(groups, weights)
        voices = {
            speakers[group]: centre(vectors[groups == group], weights[groups == group])
            for group in range(len(speakers))
        }
        for stretch, group in zip(self._stretches, groups, strict=True):
            stretch.speaker = stretch.speaker or speakers[group]
        turns = {start: self._turns(utterance, voices) for start, utterance in self._untold.items()}
        self._untold.clear()
        while len(self._stretches) > _KEPT:
            self._stretches.remove(min(self._stretches, key=lambda stretch: stretch.weight))
        return turns

    def _numbers(self, groups: Groups, weights: npt.NDArray[np.float64]) -> list[int]:
        """The speaker of each group: whose number most of its speech was given, or the next number."""
        told = np.array([stretch.speaker for stretch in self._stretches])
        count = int(groups.max()) + 1
        shared = {
            (group, int(speaker)): float(weights[(groups == group) & (told == speaker)].sum())
            for group in range(count)
            for speaker in np.unique(told[told > 0])
        }
        speakers = [0] * count
        for (group, speaker), seconds in sorted(shared.items(), key=lambda one: -one[1]):
            if seconds > 0 and not speakers[group] and speaker not in speakers:
                speakers[group] = speaker
        free = (number for number in range(1, self._most + 1) if number not in speakers)
        return [speaker or next(free) for speaker in speakers]

    def _turns(self, utterance: _Utterance, voices: dict[int, Vectors]) -> list[SpeakerTurn]:
        """Of one utterance; those of several make it several stretches from now on."""
        windows = utterance.windows
        end_ms = windows[-1].end_ms
        likely = _likely(utterance.vectors, voices) if len(windows) > 1 and len(voices) > 1 else []
        if len(set(likely)) < 2:
            return [SpeakerTurn(end_ms, utterance.stretch.speaker)]
        self._stretches.remove(utterance.stretch)
        turns, since = [], 0
        for at in range(1, len(likely) + 1):
            if at == len(likely) or likely[at] != likely[since]:
                part = _stretch(windows[since:at], utterance.vectors[since:at])
                self._stretches.append(replace(part, speaker=likely[since]))
                until = end_ms if at == len(likely) else (windows[at - 1].end_ms + windows[at].start_ms) // 2
                turns.append(SpeakerTurn(until, likely[since]))
                since = at
        return turns


def with_speakers(words: Sequence[RecognizedWord], turns: Sequence[SpeakerTurn]) -> tuple[RecognizedWord, ...]:
    """The words of an utterance, each with its speaker."""
    if not words:
        return ()
    cuts: list[int] = []
    for turn in turns[:-1]:
        near = [place for place in range(1, len(words)) if abs(words[place].start_ms - turn.end_ms) <= _SNAP_MS]
        near = near or [0, len(words)]
        cuts.append(max(near, key=lambda place: _break(words, place, turn.end_ms)))
    return tuple(
        replace(word, speaker=turns[sum(cut <= place for cut in cuts)].speaker) for place, word in enumerate(words)
    )


def _break(words: Sequence[RecognizedWord], place: int, near_ms: int) -> tuple[bool, int, int]:
    """How likely somebody else begins at this word: after a sentence, after a pause, where the windows say."""
    if not 0 < place < len(words):
        at_ms = words[0].start_ms if place == 0 else words[-1].end_ms
        return False, 0, -abs(at_ms - near_ms)
    before, after = words[place - 1], words[place]
    return before.text.endswith((".", "?", "!")), after.start_ms - before.end_ms, -abs(after.start_ms - near_ms)


def _stretch(windows: Sequence[VoiceWindow], vectors: Vectors) -> _Stretch:
    lengths = np.array([window.end_ms - window.start_ms for window in windows], np.float64)
    seconds = (windows[-1].end_ms - windows[0].start_ms) / 1000
    return _Stretch(centre(vectors, lengths), min(seconds, _LONGEST_S))


def _likely(vectors: Vectors, voices: dict[int, Vectors]) -> list[int]:
    """The speaker of each window, so that as much as can be is alike and as little as can be changes (Viterbi)."""
    speakers = sorted(voices)
    alike = vectors @ np.stack([voices[speaker] for speaker in speakers]).T
    best, steps = alike[0].astype(np.float64), []
    for row in alike[1:]:
        change = int(best.argmax())
        stays = best >= best[change] - _CHANGE
        steps.append(np.where(stays, np.arange(len(speakers)), change))
        best = np.where(stays, best, best[change] - _CHANGE) + row
    at = int(best.argmax())
    path = [at]
    for step in reversed(steps):
        at = int(step[at])
        path.append(at)
    return [speakers[number] for number in reversed(path)]
