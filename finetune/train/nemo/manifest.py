"""NeMo's manifest of a split: one WAV per segment as our server would hear it, and a line of JSON for each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import soundfile

from asr.local.stt.engines.base import RATE
from finetune.train.whisper import texts
from finetune.train.whisper.segments import SpeechSegment
from finetune.train.whisper.sound import Noise, window_audio
from finetune.train.whisper.windows import Piece, WindowPlan


@dataclass(frozen=True, slots=True)
class Manifest:
    path: Path
    audio: tuple[Path, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AddedNoise:
    """How many of the segments get noise, and how much."""

    share: float
    snr_db: tuple[float, float]
    seed: int


def plain_text(text: str) -> str:
    """As CTC models write: small letters, numbers as they are spoken, no marks."""
    words = map(texts.plain, texts.spell_out(text))
    return " ".join(word for word in words if any(map(str.isalnum, word)))


def write_manifest(
    segments: Sequence[SpeechSegment], folder: Path, name: str, noise: AddedNoise | None = None
) -> Manifest:
    """`NAME_manifest.json` in the folder, with the audio beside it. Segments without words are left out."""
    audio = folder / name
    audio.mkdir(parents=True, exist_ok=True)
    paths, said = [], []
    with (folder / f"{name}_manifest.json").open("w", encoding="utf-8") as lines:
        for number, segment in enumerate(segments):
            if not segment.text:
                continue
            piece = Piece((number,), segment.start_ms, segment.end_ms)
            added = _noise(noise, number)
            samples = window_audio(WindowPlan((piece,), 0.0, joint=False), segments, added)
            path = audio / f"{number:06d}.wav"
            soundfile.write(path, samples, RATE, subtype="PCM_16")
            line = {"audio_filepath": str(path), "duration": len(samples) / RATE, "text": segment.text}
            lines.write(json.dumps(line, ensure_ascii=False) + "\n")
            paths.append(path)
            said.append(segment.text)
    return Manifest(folder / f"{name}_manifest.json", tuple(paths), tuple(said))


def _noise(noise: AddedNoise | None, number: int) -> Noise | None:
    if noise is None:
        return None
    random = Random(f"{noise.seed} {number}")
    return Noise(random.uniform(*noise.snr_db), number) if random.random() < noise.share else None
