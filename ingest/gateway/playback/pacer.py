"""The pacer: frames leave in real time, a little ahead of it, and are heard one after the other.

sent    |f1|f2|f3|f4|f5|f6|
heard   |f1|f2|    now ^
              |--lead--|       what is cleared here was never heard
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ingest.gateway.playback.clip import Clip

FRAME_S: Final = 0.02
BURST: Final = 0.2
"""Share of the lead that is used up before frames leave again, together: a call need not wake up for every frame."""


@dataclass(frozen=True, slots=True)
class SentFrame:
    clip: Clip
    pcm: bytes
    at: float
    """When it begins to be heard,"""
    follows: bool
    """at once after the frame before it."""


class Pacer:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._frames: deque[SentFrame] = deque()
        self._end = 0.0
        """When the last frame sent has been heard."""

    @property
    def rest_s(self) -> float:
        """How long it takes until everything is heard that was sent."""
        return max(0.0, self._end - self._clock())

    def wait_s(self, lead_s: float) -> float:
        """How long the next frame has to wait; 0: it may be sent."""
        ahead = self.rest_s + FRAME_S - lead_s
        return ahead + BURST * lead_s if ahead > 1e-6 else 0.0

    def sent(self, clip: Clip, pcm: bytes) -> None:
        now = self._clock()
        follows = self._end >= now
        at = self._end if follows else now
        self._frames.append(SentFrame(clip, pcm, at, follows))
        self._end = at + FRAME_S

    def heard(self) -> list[SentFrame]:
        """The frames that have been heard since it was last asked."""
        now = self._clock()
        found = []
        while self._frames and self._frames[0].at + FRAME_S <= now + 1e-6:
            found.append(self._frames.popleft())
        return found

    def clear(self) -> list[SentFrame]:
        """The platform forgets what it has not played: frames that were heard, the one that was begun included."""
        now = self._clock()
        found = [frame for frame in self._frames if frame.at < now]
        self._frames.clear()
        self._end = now
        return found
