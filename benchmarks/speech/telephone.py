"""Is a recogniser better on telephone speech that it was not tuned on? Word error rates of the sample calls as they
are and through telephones, and the words that it hears where nobody speaks.

    python -m benchmarks.speech.telephone [--model FOLDER] [--calls 2] [--read 8] [--vocabulary FILE]

Without --model only the general recogniser is measured. With --vocabulary it is measured again, told the words of
another house: it must not say them here. With --read, so many calls are read aloud from the sentences that the language
model is measured with, instead of the sample calls: other words, in six voices of flite and Pico. The calls and the
sounds are made here, from a seed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jiwer
import numpy as np
import soundfile
import soxr
import yaml
from whisper_normalizer.english import EnglishTextNormalizer

from benchmarks.services import sample_calls
from benchmarks.speech.recognition import vocabulary_flags
from examples.make_calls import Script, Turn, perform
from finetune.corpus import call_sentences
from finetune.train.whisper.sound import Noise
from tenor import g711
from tenor.taxonomy import intents

normalise = EnglishTextNormalizer()
RATE = 8000
PACKET = RATE // 50
LOSS = 0.05
_SPEAKERS = ("caller", "agent")
VOICES = ("flite:slt", "flite:rms", "pico:en-GB", "flite:awb", "pico:en-US", "flite:kal16")
TURNS = 16
LEAST_WORDS = 6
Signal = Any


def g711_line(samples: Signal) -> Signal:
    return g711.decode_ulaw(g711.encode_ulaw(samples))


def noisy(snr_db: float) -> Callable[[Signal], Signal]:
    return lambda samples: g711_line(Noise(snr_db, seed=1).add(samples))


def lossy(samples: Signal) -> Signal:
    """Packets of 20 ms that did not arrive are silence."""
    heard = g711_line(samples).copy()
    lost = np.random.default_rng(1).random(len(heard) // PACKET + 1) < LOSS
    heard[np.repeat(lost, PACKET)[: len(heard)]] = 0
    return heard


LINES: dict[str, Callable[[Signal], Signal]] = {
    "G.711": g711_line,
    "G.711, noise 15 dB": noisy(15),
    "G.711, noise 5 dB": noisy(5),
    f"G.711, {LOSS:.0%} of packets lost": lossy,
}
AS_IT_IS = "as it is, 16 kHz"


def sounds() -> dict[str, Signal]:
    """Half a minute each, without speech."""
    time = np.arange(30 * RATE) / RATE
    random = np.random.default_rng(1)
    notes = 220 * 2 ** (random.choice([0, 2, 4, 5, 7, 9, 11, 12], 60) / 12)
    melody = np.repeat(notes, RATE // 2)
    phase = 2 * np.pi * np.cumsum(melody) / RATE
    music = sum(np.sin(phase * overtone) / overtone for overtone in (1, 2, 3)) * np.exp(-3 * (time % 0.5))
    pink = Noise(0, seed=2).add((3000 * np.sin(2 * np.pi * 50 * time)).astype(np.int16))
    ringing = np.sin(2 * np.pi * 440 * time) + np.sin(2 * np.pi * 480 * time)
    return {
        "silence": np.zeros(len(time), np.int16),
        "hum and noise": pink,
        "music": (6000 * music).astype(np.int16),
        "ringing": (6000 * ringing * ((time % 6) < 2)).astype(np.int16),
    }


def scripted(limit: int | None) -> list[tuple[Path, dict[str, str]]]:
    """The sample calls, and what is said in them, by speaker."""
    found = []
    for path in sample_calls()[:limit]:
        script = yaml.safe_load(path.with_suffix(".yaml").read_text("utf-8"))
        said = {
            speaker: " ".join(turn["text"] for turn in script["turns"] if turn["speaker"] == speaker)
            for speaker in _SPEAKERS
        }
        found.append((path, said))
    return found


def read_aloud(folder: Path, count: int) -> list[tuple[Path, dict[str, str]]]:
    """Calls of sentences that have nothing to do with each other."""
    corpus = call_sentences.read(call_sentences.DEFAULT, intents.read(intents.DEFAULT))
    spoken = sorted({row.text for row in corpus.apart if row.medium == "voice" and _readable(row.text)})
    drawn = random.Random(1).sample(spoken, count * TURNS)
    found = []
    for number in range(count):
        texts = drawn[number * TURNS : (number + 1) * TURNS]
        turns = [Turn(_SPEAKERS[at % 2], text, 0.7) for at, text in enumerate(texts)]  # type: ignore[arg-type]
        voices = {name: VOICES[(2 * number + at) % len(VOICES)] for at, name in enumerate(_SPEAKERS)}
        call = perform(Script(f"read {number}", "", "", "", "", voices, turns))
        file = folder / f"read-{number}.wav"
        soundfile.write(file, call, 16_000)
        found.append((file, {name: " ".join(texts[at::2]) for at, name in enumerate(_SPEAKERS)}))
    return found


def _readable(text: str) -> bool:
    """As long as a sentence, and all words: voices read numbers in ways of their own."""
    return len(text.split()) >= LEAST_WORDS and all(letter.isalpha() or letter in " ',.?-" for letter in text)


def prepare(folder: Path, calls: list[tuple[Path, dict[str, str]]]) -> list[tuple[str, Path, dict[str, str]]]:
    """The condition, the file and what is said in it, by speaker."""
    found = []
    for path, said in calls:
        found.append((AS_IT_IS, path, said))
        samples, rate = soundfile.read(path, dtype="float32")
        narrow = (soxr.resample(samples, rate, RATE) * 32767).clip(-32768, 32767).astype(np.int16)
        for number, (name, line) in enumerate(LINES.items()):
            file = folder / f"{path.stem}-{number}.wav"
            soundfile.write(file, np.stack([line(np.ascontiguousarray(side)) for side in narrow.T], axis=1), RATE)
            found.append((name, file, said))
    for name, sound in sounds().items():
        file = folder / f"{name.replace(' ', '-')}.wav"
        soundfile.write(file, np.stack([sound, sound], axis=1), RATE)
        found.append((name, file, dict.fromkeys(_SPEAKERS, "")))
    return found


def measure(prepared: list[tuple[str, Path, dict[str, str]]], model: Path | None, vocabulary: Path | None) -> None:
    environment = {**os.environ, "TENOR_RIVA__WHISPER_PATH": str(model or ""), "TENOR_RIVA__ENGINE": "whisper-tiny"}
    files = [str(file) for _, file, _ in prepared]
    command = [
        sys.executable,
        "-m",
        "tenor",
        "--set",
        "speech.verbatim=true",
        *vocabulary_flags(vocabulary),
        "transcribe",
        "--json",
        *files,
    ]
    done = subprocess.run(command, capture_output=True, check=True, env=environment)
    errors: dict[str, list[int]] = {}
    for (name, _, said), line in zip(prepared, done.stdout.splitlines(), strict=True):
        utterances = json.loads(line)["utterances"]
        count = errors.setdefault(name, [0, 0])
        for speaker in _SPEAKERS:
            wanted = normalise(said[speaker])
            heard = normalise(" ".join(one["text"] for one in utterances if one["role"] == speaker))
            if wanted:
                found = jiwer.process_words(wanted, heard)
                count[0] += found.substitutions + found.deletions + found.insertions
            else:
                count[0] += len(heard.split())
            count[1] += len(wanted.split())
    print(f"{model or 'the general recogniser'}{f', told {vocabulary.name}' if vocabulary else ''}:")
    for name, (wrong, words) in errors.items():
        told = f"{wrong / words:6.2%} of {words} words wrong" if words else f"{wrong} words heard where nobody speaks"
        print(f"  {name:32} {told}", flush=True)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, action="append", default=[], help="folder of a recogniser to compare")
    parser.add_argument("--calls", type=int, help="only the first so many calls")
    parser.add_argument("--read", type=int, default=0, help="so many calls read aloud, instead of the sample calls")
    parser.add_argument("--vocabulary", type=Path, metavar="FILE", help="what the recogniser is told, line by line")
    options = parser.parse_args([] if arguments is None else arguments)
    with tempfile.TemporaryDirectory() as folder:
        calls = read_aloud(Path(folder), options.read) if options.read else scripted(options.calls)
        prepared = prepare(Path(folder), calls)
        for model in (None, *options.model):
            for vocabulary in dict.fromkeys((None, options.vocabulary)):
                measure(prepared, model, vocabulary)


if __name__ == "__main__":
    main(sys.argv[1:])
