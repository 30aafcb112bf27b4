"""What has been said so far, while the speaker goes on: a stable prefix and a volatile rest."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future

from asr.local.engine import Audio, Decoded, Engine, Hints
from asr.local.pool import DecodePool
from asr.local.voice import FRAME_MS
from asr.local.wording import Wording

STABLE = 0.9
VOLATILE = 0.1
_EVERY = 500 // FRAME_MS
_SLOWER = 4
"""A long utterance costs more to decode, so its updates are further apart: every quarter of its length."""


class Interim:
    """Updates of one utterance. An update that finds the decoders busy is left out, never queued."""

    def __init__(self, engine: Engine, pool: DecodePool[list[Decoded]], wording: Wording) -> None:
        self._engine = engine
        self._pool = pool
        self._wording = wording
        self._future: Future[list[Decoded]] | None = None
        self.reset()

    def reset(self) -> None:
        if self._future is not None:
            self._future.cancel()
        self._future = None
        self._words: list[str] = []
        self._next = _EVERY

    async def update(self, frames: int, audio: Callable[[], Audio]) -> list[tuple[float, str]]:
        """Stability and text of each part, if it is time: `frames` of the utterance have been heard."""
        if frames < self._next:
            return []
        self._next = frames + max(_EVERY, frames // _SLOWER)
        samples = audio()
        self._future = self._pool.offer(lambda: self._engine.decode(samples, Hints()))
        if self._future is None:
            return []
        readings = await asyncio.wrap_future(self._future)
        self._future = None
        return self._parts([word.text for word in self._wording.interim(readings[0].words)]) if readings else []

    def _parts(self, words: list[str]) -> list[tuple[float, str]]:
        """Words that two updates agree on are stable, except the last, which may still be growing."""
        agreed = 0
        for old, new in zip(self._words, words[:-1], strict=False):
            if old != new:
                break
            agreed += 1
        self._words = words
        if not words:
            return []
        stable, rest = " ".join(words[:agreed]), " ".join(words[agreed:])
        return [(STABLE, stable + " "), (VOLATILE, rest)] if stable else [(VOLATILE, rest)]
