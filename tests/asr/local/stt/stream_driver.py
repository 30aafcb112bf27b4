"""Drives a listener the way a servicer does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from asr.local.stt.recognizer import LocalRecognizer
from asr.local.stt.types import RecognitionOptions, RecognitionResult, Samples


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


async def recognize(
    recognizer: LocalRecognizer, messages: Iterable[Samples], rate: int = 8000, **options: Any
) -> list[RecognitionResult]:
    stream = recognizer.open_stream(RecognitionOptions(rate=rate, **options))
    try:
        results: list[RecognitionResult] = []
        for message in messages:
            results += await stream.feed(message)
        return results + await stream.finish()
    finally:
        stream.close()


def finals(results: Iterable[RecognitionResult]) -> list[RecognitionResult]:
    return [one for one in results if one.final]


def texts(results: Iterable[RecognitionResult]) -> list[str]:
    return [one.alternatives[0].text for one in results if one.final]
