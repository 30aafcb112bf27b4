"""Datasets: how much quicker audio is read from the cache than decoded, and that many readers fill it once.

    python -m benchmarks.learning.datasets [minutes]

Speech-like noise at telephone rate is imported, then read twice: decoded from the archive's FLAC, as every epoch would
without a cache, and from the decoded files in the cache.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import soundfile

from benchmarks.learning.archive import measured
from storage.archive.blobs import BlobStore
from storage.datasets import open_dataset
from storage.datasets.importing import import_dataset
from storage.datasets.joining import joined
from storage.place import Place
from tenor.settings import Settings

MINUTES, RATE = 60, 8000


def write_calls(folder: Path, minutes: int) -> Path:
    """One call per minute, with a sentence every two seconds."""
    for part in ("audio", "calls"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    chance = np.random.default_rng(1)
    for number in range(minutes):
        loud = np.repeat(np.abs(np.sin(np.arange(600) / 5)), RATE // 10)[:, None]
        sound = (chance.normal(0, 1500, (60 * RATE, 2)) * loud).astype("int16")
        soundfile.write(folder / "audio" / f"{number}.flac", sound, RATE)
        said = [
            {"ch": 1 + at % 2, "offset_ms": at * 2000, "dur_ms": 1900, "text": f"sentence {at} of call {number}"}
            for at in range(29)
        ]
        record = {"sid": str(number), "caller": {"speaker_id": number}, "segments": said}
        (folder / "calls" / f"{number}.json").write_text(json.dumps(record))
    return folder


def main(minutes: int = MINUTES) -> float:
    """How many times quicker the second epoch is."""
    with tempfile.TemporaryDirectory(prefix="tenor-bench-") as folder:
        settings = Settings(home=Path(folder) / "home")
        given = write_calls(Path(folder) / "train", minutes)
        with measured(f"import {2 * minutes} channel minutes"):
            version = import_dataset(settings, given, "bench", by="benchmark")
        with measured("fill the cache"):
            open_dataset(settings, "bench").close()
        place = Place(settings.learn_url)
        blobs = BlobStore(place)
        channels = sorted(set(joined(place, version)["audio"].to_pylist()))
        began = time.process_time()
        for sha256 in channels:
            with blobs.open(sha256) as file:
                soundfile.read(file, dtype="int16")
        decoding = time.process_time() - began
        with open_dataset(settings, "bench") as dataset:
            paths = sorted({row.audio for row in dataset.rows() if row.audio})
        began = time.process_time()
        for path in paths:
            soundfile.read(path, dtype="int16")
        reading = time.process_time() - began
        times = decoding / max(reading, 1e-6)
        print(f"{'an epoch, decoded':44}{decoding:8.3f} CPU s")
        print(f"{'an epoch from the cache':44}{reading:8.3f} CPU s ({times:.1f} times quicker)")
        return times


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else MINUTES)
