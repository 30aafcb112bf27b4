"""Word error rate of `tenor transcribe` on telephone calls, beside the bare engine's on the segments people cut.

    python -m benchmarks.speech.recognition [--calls 10] [--unseen] [--written] [--live] [--mode offline]
                                            [--vocabulary benchmarks/speech/harper_valley.txt] [--full-precision]

Data: Harper Valley Bank calls (CC BY 4.0) below TENOR_BENCH_DATA, by default ../shared/data beside the repository.
A recogniser of one's own is measured with TENOR_RIVA__WHISPER_PATH; the calls whose speakers are not in the training
split are told apart.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import jiwer
import numpy as np
import soundfile
import soxr
from whisper_normalizer.english import EnglishTextNormalizer

from asr.local.stt.engines.base import DecodeOptions
from asr.local.stt.engines.whisper import WhisperEngine
from asr.local.stt.text.formatter import TextFormatter
from asr.local.stt.types import RecognitionOptions, Samples
from benchmarks.services import DATA, heard_live

ROLES = {1: "caller", 2: "agent"}
_TAG = re.compile(r"\[[^\]]*\]|<[^>]*>")
normalise = EnglishTextNormalizer()


@dataclass
class Channel:
    file: Path
    role: str
    rate: int
    samples: Samples
    segments: list[Any]

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.rate

    @property
    def reference(self) -> str:
        ordered = sorted(self.segments, key=lambda segment: segment["offset_ms"])
        return str(normalise(_TAG.sub(" ", " ".join(segment["text"] for segment in ordered))))


@dataclass
class Score:
    """Errors and words, by role."""

    errors: dict[str, list[int]] = field(default_factory=lambda: {role: [0, 0, 0] for role in ROLES.values()})
    words: dict[str, int] = field(default_factory=lambda: dict.fromkeys(ROLES.values(), 0))

    def add(self, role: str, reference: str, heard: str) -> None:
        self.words[role] += len(reference.split())
        if not reference:
            self.errors[role][2] += len(heard.split())
            return
        found = jiwer.process_words(reference, heard)
        for at, count in enumerate((found.substitutions, found.deletions, found.insertions)):
            self.errors[role][at] += count

    def rate(self, roles: Iterable[str] = tuple(ROLES.values())) -> float:
        return sum(sum(self.errors[role]) for role in roles) / max(1, sum(self.words[role] for role in roles))

    def __str__(self) -> str:
        substituted, deleted, inserted = (sum(kind) for kind in zip(*self.errors.values(), strict=True))
        by_role = ", ".join(f"{role} {self.rate([role]):.1%}" for role in self.errors)
        return (
            f"WER {self.rate():.2%} ({by_role}; {substituted} substituted, {deleted} deleted, {inserted} inserted"
            f" of {sum(self.words.values())} words)"
        )


def channels(limit: int | None, *, unseen: bool = False) -> list[Channel]:
    folder = DATA / "harper-valley" / "dev"
    found = []
    paths = sorted((folder / "calls").glob("*.json"))
    if unseen:
        apart = unseen_calls()
        paths = [path for path in paths if path.stem in apart]
    for path in paths[:limit]:
        call = json.loads(path.read_text())
        file = folder / "audio" / f"{call['sid']}.flac"
        samples, rate = soundfile.read(file, dtype="int16")
        for number, role in ROLES.items():
            own = [segment for segment in call["segments"] if segment["ch"] == number]
            found.append(Channel(file, role, rate, np.ascontiguousarray(samples[:, number - 1]), own))
    return found


def unseen_calls() -> set[str]:
    """Calls in which nobody speaks who speaks in the training split."""
    path = DATA / "harper-valley" / "train" / "split.json"
    return set(json.loads(path.read_text())["dev_calls_without_a_training_speaker"]) if path.is_file() else set()


def vocabulary_flags(vocabulary: Path | None) -> list[str]:
    """The flags that tell the recogniser a file's words and sentences, one per line."""
    lines = vocabulary.read_text("utf-8").splitlines() if vocabulary else []
    return ["--set", f"speech.vocabulary={json.dumps({'*': lines})}"] if lines else []


def transcribed(everything: list[Channel], verbatim: bool, how: list[str]) -> tuple[Score, Score, float]:
    """What `tenor transcribe` makes of all recordings, of those with unseen speakers, and its processor time."""
    files = dict.fromkeys(str(channel.file) for channel in everything)
    how = ["--set", f"speech.verbatim={verbatim}", *how]
    command = [sys.executable, "-m", "tenor", *how, "transcribe", "--json", *files]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    documents = dict(zip(files, map(json.loads, done.stdout.splitlines()), strict=True))
    score, apart, unseen = Score(), Score(), unseen_calls()
    for channel in everything:
        said = documents[str(channel.file)]["utterances"]
        text = str(normalise(" ".join(one["text"] for one in said if one["role"] == channel.role)))
        score.add(channel.role, channel.reference, text)
        if channel.file.stem in unseen:
            apart.add(channel.role, channel.reference, text)
    return score, apart, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def bare(everything: list[Channel], verbatim: bool, compute_type: Literal["int8", "float32"] = "int8") -> Score:
    """The same engine with its full window on the segments people cut, noise-only segments left out."""
    score = Score()
    engine = WhisperEngine(workers=1, window_s=30, compute_type=compute_type)
    wording = TextFormatter(RecognitionOptions(rate=8000, verbatim=verbatim))
    for channel in everything:
        audio = soxr.resample(channel.samples.astype(np.float32) / 32768, channel.rate, 16_000).astype(np.float32)
        texts = []
        for segment in sorted(channel.segments, key=lambda segment: segment["offset_ms"]):
            if normalise(_TAG.sub(" ", segment["text"])):
                start = segment["offset_ms"] * 16
                readings = engine.decode(audio[start : start + segment["dur_ms"] * 16], DecodeOptions())
                texts += [word.text for word in wording.final(readings[0].words)] if readings else []
        score.add(channel.role, channel.reference, str(normalise(" ".join(texts))))
    engine.close()
    return score


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, help="only the first so many calls")
    parser.add_argument("--written", action="store_true", help="numbers as digits instead of the spoken form")
    parser.add_argument("--live", action="store_true", help="as calls are heard while they go on")
    parser.add_argument("--mode", choices=["streaming", "offline"], default="streaming", help="of tenor transcribe")
    parser.add_argument("--unseen", action="store_true", help="only calls whose speakers are not in the training split")
    parser.add_argument("--vocabulary", type=Path, metavar="FILE", help="what the recogniser is told, line by line")
    parser.add_argument("--full-precision", action="store_true", help="only the bare engine, int8 and full precision")
    parser.add_argument("--no-bare", action="store_true", help="leave out the bare engine")
    options = parser.parse_args([] if arguments is None else arguments)
    everything = channels(options.calls, unseen=options.unseen)
    if not everything:
        raise SystemExit(f"no recordings in {DATA}; set TENOR_BENCH_DATA")
    seconds = sum(channel.seconds for channel in everything)
    print(f"{len(everything)} channels, {seconds / 60:.0f} minutes", flush=True)
    if options.full_precision:
        int8, full = (bare(everything, not options.written, kind) for kind in ("int8", "float32"))
        print(f"bare engine, int8:            {int8}\nbare engine, full precision:  {full}")
        print(f"int8 keeps {(1 - int8.rate()) / (1 - full.rate()):.1%} of the words that are right in full precision")
        return
    how = [
        "--set",
        f"speech.mode={options.mode}",
        *vocabulary_flags(options.vocabulary),
        *(heard_live() if options.live else []),
    ]
    score, apart, spent = transcribed(everything, not options.written, how)
    ours = spent / seconds
    print(f"tenor transcribe:             {score}; {ours:.3f} CPU s per audio s", flush=True)
    if any(apart.words.values()):
        print(f"of these, unseen speakers:    {apart}", flush=True)
    if options.no_bare:
        return
    began = time.process_time()
    plain = bare(everything, not options.written)
    bare_cpu = (time.process_time() - began) / seconds
    print(f"bare engine, human segments:  {plain}; {bare_cpu:.3f} CPU s per audio s")
    print(f"transcribe / bare: WER {score.rate() / plain.rate():.2f}, CPU {ours / bare_cpu:.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
