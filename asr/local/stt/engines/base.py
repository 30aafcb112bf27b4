"""What a recogniser must be able to do. Another engine is one more file with a class of this shape."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from asr.local.hearing import Word

Audio = npt.NDArray[np.float32]
"""Mono, -1..1, at `RATE`."""

RATE = 16_000


@dataclass(frozen=True, slots=True)
class Hints:
    """What the caller of `decode` knows or wants beyond the sound."""

    alternatives: int = 1
    word_times: bool = False
    """Measured times cost something; without this they are estimates."""
    speech_ms: tuple[int, int] | None = None
    """Where in the samples speech begins and ends, for estimates; None is all of them."""
    hurry: bool = False
    """Somebody waits for the words: sooner is worth more than a word in a thousand."""
    wanted: Callable[[], bool] = lambda: True
    """Asked between the steps of long work. False: the speaker went on, nobody will look at the readings."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """One reading of an utterance, as the engine writes it. Times are ms from the start of its samples."""

    words: tuple[Word, ...]
    confidence: float


class Engine(Protocol):
    """Turns the samples of one utterance into words; knows nothing of what was said before."""

    @property
    def name(self) -> str: ...

    @property
    def language(self) -> str: ...

    @property
    def room_s(self) -> float:
        """How much sound it hears better together than an utterance at a time; 0: none. Needs measured word times."""
        ...

    def decode(self, samples: Audio, hints: Hints) -> list[Decoded]:
        """Readings, best first; none if this is no speech. Called from several threads at once."""
        ...

    def close(self) -> None: ...


def loud(samples: Audio, peak: float = 0.9, most: float = 40.0) -> Audio:
    """The same utterance with its loudest sample at `peak`: both engines hear quiet callers better so."""
    loudest = float(np.abs(samples).max(initial=0.0))
    return samples * np.float32(min(peak / loudest, most)) if loudest > 0 else samples


def spread(texts: list[str], start_ms: int, end_ms: int, confidence: float) -> tuple[Word, ...]:
    """Estimated times: each word takes a share of the span by its length."""
    weights = np.cumsum([0, *(len(text) + 1 for text in texts)])
    at = start_ms + (end_ms - start_ms) * weights / max(int(weights[-1]), 1)
    return tuple(
        Word(text, int(begin), int(end), confidence) for text, begin, end in zip(texts, at, at[1:], strict=False)
    )
