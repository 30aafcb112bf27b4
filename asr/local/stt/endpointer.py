"""Where an utterance begins and ends, from the voice activity detector's (VAD) probabilities alone.

    frames   . . . . s s s s s s s . . . . s s s . . . . . . . . . . . . . . . .
    moment           ONSET         PAUSE ...     PAUSE ................. END
                     ^ onset       (the speaker goes on)  ^ end      stop_history

A frame is speech above `_ENTER`, and inside an utterance above `_STAY`: telephone speech reaches far
lower probabilities than studio speech, and what is no speech hardly ever comes near them.
"""

from __future__ import annotations

import math
from collections import deque
from enum import Enum, auto

from asr.local.stt.types import Endpointing
from asr.local.stt.vad import FRAME_MS

_ENTER = 0.3
_STAY = 0.15
_CUT_SEARCH = 2000 // FRAME_MS
_LONGEST = 28_000
"""No engine takes more than 30 s at once."""


class SpeechState(Enum):
    SILENCE = auto()
    ONSET = auto()
    SPEECH = auto()
    PAUSE = auto()
    END = auto()
    """The silence after the utterance is long enough."""
    CUT = auto()
    """The utterance is too long; `end` is the quietest place of its last two seconds."""


class Endpointer:
    """Counts frames from a clean start; `reset` is the next one."""

    def __init__(self, endpointing: Endpointing, step: int = 1) -> None:
        """`step`: a cut falls on a multiple of this many frames."""
        self._step = step
        self._start_window = _frames(endpointing.start_history_ms)
        self._start_needed = max(1, math.ceil(endpointing.start_threshold * self._start_window - 1e-9))
        self._stop = _Silence(endpointing.stop_history_ms, endpointing.stop_threshold)
        eou = endpointing.stop_history_eou_ms
        eou_threshold = endpointing.stop_threshold_eou
        self._first_pass = (
            None
            if eou is None
            else _Silence(eou, endpointing.stop_threshold if eou_threshold is None else eou_threshold)
        )
        self._longest = _frames(min(endpointing.max_utterance_ms, _LONGEST))
        self.reset()

    def reset(self) -> None:
        self.frames = 0
        """Frames since the clean start."""
        self.onset: int | None = None
        """First frame of speech, once there is an utterance."""
        self.end = 0
        """The frame after the last one of speech."""
        self._probabilities: list[float] = []
        self._recent: deque[bool] = deque(maxlen=self._start_window)

    @property
    def quiet(self) -> bool:
        """Nothing in the start window that could become an onset."""
        return self.onset is None and not any(self._recent)

    @property
    def settled(self) -> int:
        """No clean start will ever be before this frame, not even if the utterance is cut."""
        return self.frames if self.onset is None else min(self.frames, self.onset + self._longest - _CUT_SEARCH)

    @property
    def silence(self) -> int:
        """Frames since the last one of speech."""
        return self.frames - self.end

    @property
    def first_pass(self) -> bool:
        """Whether the silence is long enough for a first result."""
        return self._first_pass is not None and self._first_pass.reached(self._probabilities)

    def update(self, probability: float) -> SpeechState:
        self.frames += 1
        if self.onset is None:
            return self._wait_for_onset(probability)
        self._probabilities.append(probability)
        spoken = probability >= _STAY
        if spoken:
            self.end = self.frames
        if self._stop.reached(self._probabilities):
            return SpeechState.END
        if self.frames - self.onset >= self._longest:
            self.end = self._quietest()
            return SpeechState.CUT
        return SpeechState.SPEECH if spoken else SpeechState.PAUSE

    def _wait_for_onset(self, probability: float) -> SpeechState:
        self._recent.append(probability >= _ENTER)
        if sum(self._recent) < self._start_needed:
            return SpeechState.SILENCE
        self.onset = self.frames - len(self._recent) + self._recent.index(True)
        self.end = self.frames
        self._probabilities = [1.0] * (self.frames - self.onset)
        return SpeechState.ONSET

    def _quietest(self) -> int:
        """The multiple of `step` frames before the least likely speech of the last two seconds."""
        assert self.onset is not None
        places = [
            frame
            for frame in range(max(self.onset + 1, self.frames - _CUT_SEARCH), self.frames)
            if frame % self._step == 0
        ]
        onset = self.onset
        return min(places, key=lambda frame: self._probabilities[frame - onset], default=self.frames)


class _Silence:
    """Whether at least `threshold` of the last `history_ms` was silence."""

    def __init__(self, history_ms: int, threshold: float) -> None:
        self._window = _frames(history_ms)
        self._tolerated = self._window - math.ceil(threshold * self._window - 1e-9)

    def reached(self, probabilities: list[float]) -> bool:
        if len(probabilities) < self._window:
            return False
        spoken = sum(probability >= _STAY for probability in probabilities[-self._window :])
        return spoken <= self._tolerated


def _frames(ms: int) -> int:
    return max(1, math.ceil(ms / FRAME_MS))
