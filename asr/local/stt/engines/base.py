"""What a speech recognition engine must be able to do. Another engine is one more file with a class of this shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from asr.local.stt.types import RecognizedWord

Audio = npt.NDArray[np.float32]
"""Mono, -1..1, at `RATE`."""

RATE = 16_000


@dataclass(frozen=True, slots=True)
class DecodeOptions:
    """What the caller of `decode` knows or wants beyond the sound."""

    alternatives: int = 1
    word_times: bool = False
    """Measured times cost something; without this they are estimates."""
    speech_ms: tuple[int, int] | None = None
    """Where in the samples speech begins and ends, for estimates; None is all of them."""
    low_latency: bool = False
    """Somebody waits for the words: sooner is worth more than a word in a thousand."""
    context: tuple[str, ...] = ()
    """Words and sentences that are likely to be said, the likeliest last. Engines that cannot be told ignore it."""
    proposals: Callable[[Sequence[str]], Sequence[Sequence[str]]] | None = None
    """What else the words of a hypothesis may have been. An engine that can ask the sound judges these, too."""
    wanted: Callable[[], bool] = lambda: True
    """Asked between the steps of long work. False: the speaker went on, nobody will look at the hypotheses."""


@dataclass(frozen=True, slots=True)
class EngineHypothesis:
    """One hypothesis of an utterance, as the engine writes it. Times are ms from the start of its samples."""

    words: tuple[RecognizedWord, ...]
    confidence: float


class Engine(Protocol):
    """Turns the samples of one utterance into words; knows nothing of what was said before."""

    @property
    def name(self) -> str: ...

    @property
    def language(self) -> str: ...

    @property
    def joint_window_s(self) -> float:
        """How much sound it recognises better together than one utterance at a time; 0: none.
        Needs measured word times."""
        ...

    @property
    def punctuates(self) -> bool:
        """Whether it writes marks and capitals."""
        ...

    def decode(self, samples: Audio, options: DecodeOptions) -> list[EngineHypothesis]:
        """Hypotheses, best first; none if this is no speech. Called from several threads at once."""
        ...

    def close(self) -> None: ...


def normalize_peak(samples: Audio, peak: float = 0.9, most: float = 40.0) -> Audio:
    """The same utterance with its loudest sample at `peak`: both engines recognise quiet callers better so."""
    loudest = float(np.abs(samples).max(initial=0.0))
    return samples * np.float32(min(peak / loudest, most)) if loudest > 0 else samples


def estimate_word_times(texts: list[str], start_ms: int, end_ms: int, confidence: float) -> tuple[RecognizedWord, ...]:
    """Estimated times: each word takes a share of the span by its length."""
    weights = np.cumsum([0, *(len(text) + 1 for text in texts)])
    at = start_ms + (end_ms - start_ms) * weights / max(int(weights[-1]), 1)
    return tuple(
        RecognizedWord(text, int(begin), int(end), confidence)
        for text, begin, end in zip(texts, at, at[1:], strict=False)
    )
