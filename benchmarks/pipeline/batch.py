"""Many short files in one go: files a second, what decoding and analysis cost a file, and how much memory.

    python -m benchmarks.pipeline.batch [--conversations 4] [--files 356] [--chats 560] [--messages 50000]
                                        [--engine ENGINE]

The paper's load is 560 conversations of 50,000 short files, MP3s of about 100 KB that are 1 MB as WAV, with 10 ms a
file for data processing and 10 ms for inference: 89 files a conversation, 6 s each at 44.1 kHz. They are cut from
telephone calls (Harper Valley Bank, CC BY 4.0, below TENOR_BENCH_DATA; without them from the sample calls) and dealt
out at random, so that no two conversations are alike. The written load has the paper's size. The command people use
does the work: `tenor analyze --folders --json`.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any, NamedTuple

import av
import numpy as np
import soundfile
import soxr
from numpy.typing import NDArray

from benchmarks.services import recordings
from finetune.corpus import datasets
from finetune.evaluate.scores import percentile
from ingest.audio.recording import open_recording
from ingest.sources import Source
from nlp.inference.local import LocalBackend
from nlp.inference.models.language_model import open_model
from tenor import telemetry
from tenor.settings import TelemetrySettings

ROOT = Path(__file__).parents[2]
PAPER_FILES, PAPER_CONVERSATIONS, PAPER_MS = 50_000, 560, 10.0
SECONDS, RATE, BITRATE = 6, 44_100, 128_000


class Run(NamedTuple):
    documents: list[dict[str, Any]]
    wall_s: float
    cpu_s: float
    peak_mb: float


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--conversations", type=int, default=4, help="folders of recordings")
    parser.add_argument("--files", type=int, default=356, help="recordings of 6 s of all folders together")
    parser.add_argument("--engine", default="", help="recogniser; default: the one people get")
    parser.add_argument("--chats", type=int, default=PAPER_CONVERSATIONS, help="written conversations")
    parser.add_argument("--messages", type=int, default=PAPER_FILES, help="messages of all chats together")
    options = parser.parse_args([] if arguments is None else arguments)
    telemetry.configure(TelemetrySettings(log_level="error"))
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        spoken(Path(folder), options.conversations, options.files, options.engine)
        written(Path(folder), options.chats, options.messages)


def spoken(folder: Path, conversations: int, count: int, engine: str) -> None:
    (folder / "pieces").mkdir()
    pieces = [_write(folder / "pieces" / f"{at}.mp3", piece) for at, piece in enumerate(islice(_pieces(), count))]
    folders = [folder / f"{number:03}" for number in range(conversations)]
    chance = random.Random(0)
    for number, own in enumerate(folders):
        own.mkdir()
        for at in range(count // conversations + (number < count % conversations)):
            os.link(chance.choice(pieces), own / f"{at:03}.mp3")
    files = [file for own in folders for file in sorted(own.iterdir())]
    kilobytes = statistics.mean(file.stat().st_size / 1024 for file in files)
    print(
        f"{conversations} conversations, {count:,} recordings of {SECONDS} s, {kilobytes:.0f} KB each as MP3",
        flush=True,
    )
    _tell("data processing, MP3 to PCM", [_timed(partial(_decode, file)) for file in files[:200]])
    run = analyze(folders, "--folders", settings=["--set", f"riva.engine={engine}"] if engine else [])
    assert len(run.documents) == conversations
    backend = LocalBackend(open_model())
    texts = [one["text"] for document in run.documents for one in document["sentences"]]
    backend.analyze(texts[:1])
    a_file = max(1, round(len(texts) / len(files)))
    costs = [_timed(partial(backend.analyze, texts[at : at + a_file])) for at in range(0, len(texts), a_file)]
    _tell(f"inference, language model, {len(texts) / len(files):.1f} sentences a file", costs)
    print(f"  the whole way: {run.cpu_s / len(files) * 1000:.0f} ms of processor a file, mostly the recogniser's")
    _throughput(run, len(files), "files", PAPER_FILES)


def written(folder: Path, conversations: int, messages: int) -> None:
    sentences = cycle([row["text"] for name in ("sentiment", "intents") for row in datasets.evaluation(name)])
    table = folder / "chats.csv"
    with table.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["conversation", "role", "text"])
        for number in range(messages):  # all chats at once, as a day's export has them
            role = "agent" if number // conversations % 2 else "customer"
            rows.writerow([number % conversations, role, f"{next(sentences)} ({number})"])
    run = analyze([table])
    assert len(run.documents) == conversations
    print(f"\n{conversations} chats of {messages:,} messages in one table")
    understood = sum(len(document["sentences"]) for document in run.documents)
    print(f"  {messages / run.wall_s:.0f} messages a second with start-up, {understood:,} sentences")
    _throughput(run, conversations, "conversations", PAPER_CONVERSATIONS)


def analyze(files: list[Path], *flags: str, settings: Sequence[str] = ()) -> Run:
    """`tenor analyze` in a process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="bench-") as home:
        command = ["tenor", "--home", home, *settings, "analyze", "--json", *flags, *map(str, files)]
        process = subprocess.Popen(
            [sys.executable, "-m", *command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert process.stdout is not None
        documents = [json.loads(line) for line in process.stdout]
        _, _, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(documents, wall, cpu, usage.ru_maxrss / 1024)


def _pieces() -> Iterator[NDArray[np.int16]]:
    """Pieces of calls, both sides on both channels."""
    for file in recordings():
        samples, rate = soundfile.read(file, dtype="float32", always_2d=True)
        said = soxr.resample(samples.mean(axis=1), rate, RATE)
        for start in range(0, len(said) - SECONDS * RATE // 2, SECONDS * RATE):
            piece = (said[start : start + SECONDS * RATE] * 32767).astype(np.int16)
            yield np.stack([piece, piece], axis=1)


def _write(path: Path, samples: NDArray[np.int16]) -> Path:
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libmp3lame", rate=RATE, layout="stereo")
        stream.bit_rate = BITRATE
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(samples).reshape(1, -1), "s16", "stereo")
        frame.sample_rate = RATE
        for packet in (*stream.encode(frame), *stream.encode(None)):
            container.mux(packet)
    return path


def _decode(file: Path) -> None:
    with open_recording(Source("file", str(file))) as recording:
        for _ in recording:
            pass


def _timed(work: Callable[[], object]) -> tuple[float, float]:
    """By the clock and of the processor, in milliseconds."""
    began, used = time.perf_counter(), time.process_time()
    work()
    return 1000 * (time.perf_counter() - began), 1000 * (time.process_time() - used)


def _tell(what: str, costs: list[tuple[float, float]]) -> None:
    clock, processor = ([cost[at] for cost in costs] for at in (0, 1))
    verdict = "yes" if statistics.median(processor) <= PAPER_MS else "NO"
    print(
        f"  {what}: p50 {percentile(clock, 0.5):.1f} ms, p95 {percentile(clock, 0.95):.1f} ms a file by the clock;"
        f" processor p50 {statistics.median(processor):.1f} ms (at most {PAPER_MS:.0f}: {verdict})",
        flush=True,
    )


def _throughput(run: Run, count: int, noun: str, paper: int) -> None:
    rate = count / run.wall_s
    hours = paper / rate / 3600
    span = f"{hours:.1f} hours" if hours >= 1 else f"{60 * hours:.0f} minutes"
    print(f"  {rate:.2f} {noun} a second, with start-up: {paper:,} would take {span}")
    print(f"  at most {run.peak_mb:.0f} MB of memory", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
