"""Drives a listener the way a servicer does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from asr.local.ears import LocalEars
from asr.local.hearing import Heard, HearingRequest, Samples


def pieces(samples: Samples, size: int) -> Iterator[Samples]:
    for start in range(0, len(samples), size):
        yield samples[start : start + size]


def ragged(samples: Samples, seed: int) -> Iterator[Samples]:
    """Messages of all sizes between one sample and two seconds."""
    rng, start = np.random.default_rng(seed), 0
    while start < len(samples):
        size = int(10 ** rng.uniform(0, 4.2))
        yield samples[start : start + size]
        start += size


async def listen(ears: LocalEars, messages: Iterable[Samples], rate: int = 8000, **wishes: Any) -> list[Heard]:
    listener = ears.listen(HearingRequest(rate=rate, **wishes))
    try:
        heard: list[Heard] = []
        for message in messages:
            heard += await listener.hear(message)
        return heard + await listener.finish()
    finally:
        listener.close()


def finals(heard: Iterable[Heard]) -> list[Heard]:
    return [one for one in heard if one.final]


def texts(heard: Iterable[Heard]) -> list[str]:
    return [one.alternatives[0].text for one in heard if one.final]
