"""What has been said so far, while the speaker goes on: a stable prefix and a volatile rest."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future

from asr.local.stt.decode_pool import DecodePool
from asr.local.stt.engines.base import Audio, DecodeOptions, Engine, EngineHypothesis
from asr.local.stt.text.formatter import TextFormatter
from asr.local.stt.vad import FRAME_MS

STABLE = 0.9
VOLATILE = 0.1
_EVERY = 500 // FRAME_MS
_SLOWER = 4
"""A long utterance costs more to decode, so its updates are further apart: every quarter of its length."""
_AHEAD_S = 0.5
"""Sound that comes this much sooner than it can have been spoken comes from a file, which can wait for an update."""
_PATIENCE_S = 0.5
"""But not for long: it may be a call that was not recognised for a while and has to catch up."""


class InterimDecoder:
    """Updates of one utterance. An update that finds the decoders busy is left out, never queued, and a live stream
    goes on while one is made: the end of what is being said must not be noticed later for it. Updates are made
    when nothing else has to be, so on a busy machine one can take very long."""

    def __init__(self, engine: Engine, pool: DecodePool, formatter: TextFormatter) -> None:
        self._engine = engine
        self._pool = pool
        self._formatter = formatter
        self._future: Future[list[EngineHypothesis]] | None = None
        self.reset()

    def reset(self) -> None:
        if self._future is not None:
            self._future.cancel()
        self._future = None
        self._words: list[str] = []
        self._next = _EVERY
        self._began = 0.0
        self._patient = True

    async def update(self, frames: int, audio: Callable[[], Audio]) -> list[tuple[float, str]]:
        """Stability and text of each part, if there is news: `frames` of the utterance have come."""
        sound_s = frames * FRAME_MS / 1000
        self._began = self._began or time.monotonic() - sound_s
        if self._future is None and frames >= self._next:
            self._next = frames + max(_EVERY, frames // _SLOWER)
            samples = audio()
            self._future = self._pool.offer(lambda: self._engine.decode(samples, DecodeOptions()))
        if self._future is None or not await self._ready(self._future, sound_s):
            return []
        hypotheses = self._future.result()
        self._future = None
        return self._parts([word.text for word in self._formatter.interim(hypotheses[0].words)]) if hypotheses else []

    async def _ready(self, update: Future[list[EngineHypothesis]], sound_s: float) -> bool:
        """Whether the update is there; a file waits for it a little."""
        if not update.done() and self._patient and time.monotonic() - self._began + _AHEAD_S <= sound_s:
            await asyncio.wait([asyncio.wrap_future(update)], timeout=_PATIENCE_S)
            self._patient = update.done()
        return update.done()

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
