"""The sound of pressed keys, taken out of what a caller says: a card number that is typed must not be heard in the
recording either. Most platforms take it out themselves and tell of keys in messages; not all of them do."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

LOW_HZ: Final = (697, 770, 852, 941)
HIGH_HZ: Final = (1209, 1336, 1477, 1633)
PURE: Final = 0.7
"""Share of the sound that the two tones of a key have at least; speech has other sounds beside any two."""
TWIST: Final = 10.0
"""How much stronger one of the two may be."""
FAINTEST: Final = 30.0
"""Below this (RMS of 16-bit samples) is noise of the line."""
BLOCK_S: Final = 0.02


class KeyTones:
    """One channel. The block before a tone is held back until it is known that none follows, because a tone that
    begins in its middle is not noticed there; the block after one is silenced for the same reason."""

    def __init__(self) -> None:
        self.rate = 0
        self._held: tuple[int, bytes] | None = None
        self._tone = False
        """Whether the held block has one."""

    def take_out(self, rate: int, at: int, pcm: bytes) -> list[tuple[int, bytes]]:
        """What may be kept by now of samples at that position, in pieces with their positions."""
        ready: list[tuple[int, bytes]] = []
        self.rate = rate
        size = 2 * round(rate * BLOCK_S)
        for start in range(0, len(pcm), size):
            ready += self._next(at + start // 2, pcm[start : start + size])
        return ready

    def flush(self) -> list[tuple[int, bytes]]:
        """The end: nothing follows what is held."""
        held, self._held = self._held, None
        return [held] if held is not None else []

    def _next(self, at: int, block: bytes) -> list[tuple[int, bytes]]:
        tone = is_key_tone(np.frombuffer(block, "<i2"), self.rate)
        held, before = self._held, self._tone
        if held is not None and tone:
            held = held[0], bytes(len(held[1]))
        self._held, self._tone = (at, bytes(len(block)) if tone or before else block), tone
        return [held] if held is not None else []


def is_key_tone(samples: npt.NDArray[np.int16], rate: int) -> bool:
    if len(samples) < rate * BLOCK_S / 2:
        return False
    sound = samples.astype(np.float32)
    power = float(np.mean(sound**2))
    if power < FAINTEST**2:
        return False
    tones = 2 * np.abs(_waves(len(samples), rate) @ sound / len(samples)) ** 2
    low, high = float(tones[: len(LOW_HZ)].max()), float(tones[len(LOW_HZ) :].max())
    return low + high >= PURE * power and max(low, high) <= TWIST * min(low, high)


@cache
def _waves(count: int, rate: int) -> Any:
    frequencies = np.array(LOW_HZ + HIGH_HZ)[:, None]
    return np.exp(-2j * np.pi * frequencies * np.arange(count) / rate).astype(np.complex64)
