"""A recogniser of the registry is loaded only if it hears in its golden recordings what it heard where it was made."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import soundfile
import soxr

from asr.local.stt.engines.base import RATE, DecodeOptions, Engine
from asr.local.stt.engines.opening import open_engine
from tenor.errors import BadInput
from tenor.model_store.digest import is_file_name
from tenor.model_store.golden import GoldenAnswer, check_golden
from tenor.settings import RivaSettings

_WORD = re.compile(r"[\w']+")


def open_checked(folder: Path, settings: RivaSettings, name: str = "") -> Engine:
    """A recogniser of the registry, which gives its golden answers."""
    engine = open_engine(folder, settings, name)
    try:
        check_golden(folder, name or folder.name, lambda golden: spoken_answers(engine, folder, golden))
    except BadInput:
        engine.close()
        raise
    return engine


def spoken_answers(engine: Engine, folder: Path, golden: Sequence[GoldenAnswer]) -> list[dict[str, str]]:
    """The words that the engine hears in each recording, in lower case and without marks."""
    return [{"text": _heard(engine, folder, one.audio)} for one in golden]


def _heard(engine: Engine, folder: Path, name: str) -> str:
    if not is_file_name(name):
        raise BadInput(f"{name!r} is no file of a model")
    try:
        samples, rate = soundfile.read(folder / name, dtype="float32", always_2d=True)
    except (OSError, RuntimeError) as error:
        raise BadInput(f"{folder / name}: {error}") from None
    mono = samples.mean(axis=1)
    audio = np.ascontiguousarray(soxr.resample(mono, rate, RATE) if rate != RATE else mono)
    found = engine.decode(audio, DecodeOptions())
    return " ".join(_WORD.findall(" ".join(word.text for word in found[0].words).lower())) if found else ""
