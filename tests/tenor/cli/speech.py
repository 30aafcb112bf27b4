"""Real speech for tests: a public-domain reading that comes inside one of the packages we depend on."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt
import soundfile
import soxr

WORDS = ("best of times", "worst of times", "age of wisdom")
"""What is said in the first seconds."""


def reading(seconds: float, rate: int = 16000) -> npt.NDArray[np.int16]:
    """The first seconds of a reading of "A Tale of Two Cities"."""
    spec = find_spec("moonshine_voice")
    assert spec is not None
    assert spec.submodule_search_locations
    path = Path(spec.submodule_search_locations[0], "assets", "two_cities.wav")
    samples, native = soundfile.read(path, dtype="int16", frames=int(seconds * soundfile.info(path).samplerate))
    return np.asarray(soxr.resample(samples, native, rate), dtype=np.int16)
