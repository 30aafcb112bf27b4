"""Two people on one channel: what `tenor transcribe` makes of telephone calls whose two channels were mixed.

    python -m benchmarks.speech.speakers [--calls 10] [--split train]

Data: Harper Valley Bank calls (CC BY 4.0) below TENOR_BENCH_DATA, by default ../shared/data beside the repository. Who
said a word is the channel on which somebody speaks at its time. The diarization error is the usual one: missed,
invented and confused speech against all speech, a quarter of a second around each of its edges left out. What people
say at once counts twice, and cannot be told from one channel.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
import soundfile

from asr.local.stt.types import Samples
from benchmarks.services import DATA

ROLES = ("caller", "agent")
FRAME_MS = 10
COLLAR = 250 // FRAME_MS
PAUSE_MS = 500
"""Words of one speaker that are nearer than this are one stretch of speech."""
QUIET = 1e-3
"""Share of a segment's loud frames below which nobody speaks."""
_TAG = re.compile(r"\[[^\]]*\]|<[^>]*>")

Frames = npt.NDArray[np.bool_]
"""Frames x speakers: who speaks."""


@dataclass
class Score:
    words: int = 0
    right: int = 0
    right_if_named: int = 0
    """With the roles exchanged in calls where that is better: what the voices alone give."""
    errors: Counter[str] = field(default_factory=Counter)
    calls: list[float] = field(default_factory=list)
    """Share of words with the right role."""

    def __str__(self) -> str:
        spoken = max(1, self.errors["spoken"])
        wrong = sum(self.errors[kind] for kind in ("missed", "invented", "confused"))
        kinds = ", ".join(f"{kind} {self.errors[kind] / spoken:.1%}" for kind in ("missed", "invented", "confused"))
        good = sum(share >= 0.9 for share in self.calls)
        return (
            f"right role {self.right / max(1, self.words):.1%} of {self.words} words (voices alone "
            f"{self.right_if_named / max(1, self.words):.1%}; at least 90 % in {good} of {len(self.calls)} calls, "
            f"worst {min(self.calls, default=0):.0%}); diarization error {wrong / spoken:.1%} ({kinds})"
        )


def spoken(samples: Samples, rate: int, call: dict[str, Any]) -> Frames:
    """Who speaks when: in segments with words, where the channel is not quiet."""
    size = rate * FRAME_MS // 1000
    frames = len(samples) // size
    energy = np.square(samples[: frames * size].astype(np.float64)).reshape(frames, size, 2).mean(axis=1)
    found = np.zeros((frames, 2), bool)
    for segment in call["segments"]:
        start, end = segment["offset_ms"] // FRAME_MS, (segment["offset_ms"] + segment["dur_ms"]) // FRAME_MS
        own = energy[start:end, segment["ch"] - 1]
        if _TAG.sub("", segment["text"]).strip() and len(own):
            found[start:end, segment["ch"] - 1] |= own > np.percentile(own, 95) * QUIET
    for own in found.T:
        places = np.flatnonzero(own)
        for before, after in pairwise(places):
            if after - before < PAUSE_MS // FRAME_MS:
                own[before:after] = True
    return found


def told(utterances: list[dict[str, Any]], frames: int) -> Frames:
    found = np.zeros((frames, 2), bool)
    for role, name in enumerate(ROLES):
        last = -PAUSE_MS
        for word in sorted(
            (word for said in utterances if said["role"] == name for word in said["words"]),
            key=lambda word: word["start_ms"],
        ):
            start = last if word["start_ms"] - last < PAUSE_MS else word["start_ms"]
            found[start // FRAME_MS : word["end_ms"] // FRAME_MS, role] = True
            last = word["end_ms"]
    return found


def score_call(score: Score, truth: Frames, utterances: list[dict[str, Any]]) -> None:
    right = words = 0
    for said in utterances:
        for word in said["words"]:
            here = truth[word["start_ms"] // FRAME_MS : max(word["end_ms"], word["start_ms"] + FRAME_MS) // FRAME_MS]
            caller, agent = here.sum(axis=0) if len(here) else (0, 0)
            if caller != agent:
                words += 1
                right += said["role"] == ROLES[int(agent > caller)]
    score.words += words
    score.right += right
    score.right_if_named += max(right, words - right)
    if words:
        score.calls.append(right / words)
    hypothesis = told(utterances, len(truth))
    if 2 * right < words:  # the voices are judged here, not their names
        hypothesis = hypothesis[:, ::-1]
    counted = ~_near_edges(truth)
    reference, system = truth[counted].sum(axis=1), hypothesis[counted].sum(axis=1)
    same = (truth & hypothesis)[counted].sum(axis=1)
    score.errors["spoken"] += int(reference.sum())
    score.errors["missed"] += int(np.maximum(reference - system, 0).sum())
    score.errors["invented"] += int(np.maximum(system - reference, 0).sum())
    score.errors["confused"] += int((np.minimum(reference, system) - same).sum())


def _near_edges(truth: Frames) -> npt.NDArray[np.bool_]:
    near = np.zeros(len(truth), bool)
    for edge in np.flatnonzero((truth[1:] != truth[:-1]).any(axis=1)) + 1:
        near[max(0, edge - COLLAR) : edge + COLLAR] = True
    return near


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, help="only the first so many calls")
    parser.add_argument("--split", default="dev", help="train: the calls that thresholds and phrases were chosen on")
    options = parser.parse_args([] if arguments is None else arguments)
    folder = DATA / "harper-valley" / options.split
    calls = [json.loads(path.read_text()) for path in sorted((folder / "calls").glob("*.json"))[: options.calls]]
    if not calls:
        raise SystemExit(f"no recordings in {DATA}; set TENOR_BENCH_DATA")
    truths, seconds = [], 0.0
    with TemporaryDirectory() as mixes:
        files = []
        for call in calls:
            samples, rate = soundfile.read(folder / "audio" / f"{call['sid']}.flac", dtype="int16")
            mono = np.clip(samples.astype(np.int32).sum(axis=1), -32768, 32767).astype(np.int16)
            soundfile.write(file := Path(mixes) / f"{call['sid']}.wav", mono, rate)
            files.append(str(file))
            truths.append(spoken(samples, rate, call))
            seconds += len(samples) / rate
        spent = {}
        for speakers in ("1", "2"):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            command = [sys.executable, "-m", "tenor", "transcribe", "--json", "--speakers", speakers, *files]
            done = subprocess.run(command, capture_output=True, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent[speakers] = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / seconds
    score = Score()
    for truth, line in zip(truths, done.stdout.splitlines(), strict=True):
        score_call(score, truth, json.loads(line)["utterances"])
    print(f"{len(calls)} mixed calls of {options.split}, {seconds / 60:.0f} minutes: {score}")
    print(f"CPU s per audio s: {spent['2']:.3f} with two speakers, {spent['1']:.3f} with --speakers 1")


if __name__ == "__main__":
    main(sys.argv[1:])
