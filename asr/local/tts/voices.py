"""Voices that need no GPU: one in a Python package, and programs that may be on the machine."""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

import numpy as np

from asr.local.codecs.wav import WavReader
from asr.local.stt.types import Samples
from tenor.errors import BadInput

_EUROPEAN = ("en-US", "en-GB", "de-DE", "es-ES", "fr-FR", "it-IT")
_PATIENCE_S = 30.0
HOW_TO_GET_ONE = (
    "this server has no voice: install one with `pip install ttspico` (needs a C compiler) "
    "or your system's flite or espeak-ng package, and start it again"
)


class Voice(Protocol):
    """Speaks one sentence at a time. Called from threads."""

    @property
    def name(self) -> str: ...

    @property
    def languages(self) -> tuple[str, ...]: ...

    @property
    def rate(self) -> int:
        """Samples a second of what it says."""
        ...

    def synthesize(self, text: str, language: str) -> Samples: ...


class PicoVoice:
    """SVOX Pico in process: first audio in 20 ms. Its engine is no friend of threads, hence the lock, and what it says
    depends on what it said before, hence one for each sentence: the same text is always the same sound."""

    name = "ttspico"
    languages = _EUROPEAN
    rate = 16000

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def synthesize(self, text: str, language: str) -> Samples:
        import ttspico

        with self._lock:
            # Pico reads angle brackets as markup of its own.
            pcm: bytes | None = ttspico.TtsEngine(language).speak(text.replace("<", " ").replace(">", " "))
        return np.frombuffer(pcm or b"", "<i2").astype(np.int16, copy=False)


@dataclass(frozen=True, slots=True)
class ProgramVoice:
    """A program that is given a sentence and writes a WAV file."""

    name: str
    languages: tuple[str, ...]
    rate: int
    command: Callable[[str, str], Sequence[str]]
    """Language and file to write, to the arguments; the sentence comes on standard input."""

    def synthesize(self, text: str, language: str) -> Samples:
        with tempfile.TemporaryDirectory(prefix="tenor-voice-") as folder:
            wav_file, text_file = Path(folder, "speech.wav"), Path(folder, "text")
            text_file.write_text(text + "\n", encoding="utf-8")
            with text_file.open("rb") as sentence:
                subprocess.run(
                    self.command(language, str(wav_file)),
                    stdin=sentence,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    timeout=_PATIENCE_S,
                    check=True,
                )
            return np.frombuffer(_pcm(wav_file.read_bytes()), "<i2").astype(np.int16, copy=False)


def _pcm(wav: bytes) -> bytes:
    data = WavReader().read(wav)
    return data[: len(data) - len(data) % 2]


def _pico() -> Voice | None:
    return PicoVoice() if find_spec("ttspico") else None


def _flite() -> Voice | None:
    program = shutil.which("flite")
    if program is None:
        return None
    return ProgramVoice(
        "flite", ("en-US",), 16000, lambda _, path: (program, "-voice", "slt", "-f", "/dev/stdin", "-o", path)
    )


def _espeak() -> Voice | None:
    program = shutil.which("espeak-ng")
    if program is None:
        return None
    return ProgramVoice(
        "espeak-ng",
        _EUROPEAN,
        22050,
        lambda language, path: (program, "-v", f"{language.lower()}+f3", "--stdin", "-b", "1", "-w", path),
    )


def _piper(model: Path | None) -> Voice | None:
    program = shutil.which("piper")
    if program is None or model is None:
        return None
    about = json.loads(Path(f"{model}.json").read_text(encoding="utf-8"))
    language = str(about["language"]["code"]).replace("_", "-")
    return ProgramVoice(
        "piper",
        (language,),
        int(about["audio"]["sample_rate"]),
        lambda _, path: (program, "--model", str(model), "--output_file", path),
    )


def find_voice(wanted: str = "auto", piper_model: Path | None = None) -> Voice | None:
    """The voice of that name; `auto` takes the first there is, `none` none. BadInput if it is missing."""
    known: dict[str, Callable[[], Voice | None]] = {
        "piper": functools.partial(_piper, piper_model),
        "ttspico": _pico,
        "flite": _flite,
        "espeak-ng": _espeak,
    }
    if wanted == "none":
        return None
    if wanted == "auto":
        return next((voice for find in known.values() if (voice := find()) is not None), None)
    if wanted not in known:
        raise BadInput(f"no voice {wanted!r}; there are {', '.join(known)}, auto and none")
    voice = known[wanted]()
    if voice is None:
        raise BadInput(f"the voice {wanted!r} is not installed", "pip install 'tenor[voice]' or apt-get install flite")
    return voice
