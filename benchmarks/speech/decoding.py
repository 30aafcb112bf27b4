"""A 100 KB MP3 to PCM16 in memory: which decoder is fast, in one run, as ratios.

    python -m benchmarks decoding

The paper (WP-7328) names 10 ms for this step. Decoders take turns, so that a busy machine slows all of
them alike; the ratios of CPU time are what to compare between machines. Each must deliver the whole
recording at its own rate and channels.

`ingest/audio/pyav_decoder.py` uses PyAV: it is FFmpeg, so one decoder reads every format, tells damage and cut-off
ends, and needs no file on disk. miniaudio is faster but reads four formats and says nothing of damage.
"""

from __future__ import annotations

import io
import resource
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import av
import ffmpeg
import imageio_ffmpeg
import miniaudio
import numpy as np
import soundfile

from ingest.audio.pyav_decoder import PyAvDecoder
from ingest.warnings import Warnings

ROUNDS = 40


class Cost(NamedTuple):
    median_ms: float
    best_ms: float
    cpu_ms: float
    samples: int


Decoder = Callable[[Path], int]
"""Decodes a file and returns how many samples a channel it found."""


def write_mp3(path: Path, *, rate: int, channels: int, bitrate: int, kilobytes: int = 98) -> None:
    """Speech-like noise (bursts of coloured noise) that fills about `kilobytes` at `bitrate`."""
    seconds = kilobytes * 8192 / bitrate
    rng = np.random.default_rng(4910)
    time_s = np.arange(int(seconds * rate)) / rate
    syllables = np.clip(np.sin(2 * np.pi * 3 * time_s), 0, None)
    noise = np.convolve(rng.standard_normal(len(time_s)), np.ones(8) / 8, mode="same")
    voice = (syllables * noise * 8000).astype(np.int16)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libmp3lame", rate=rate, layout="stereo" if channels == 2 else "mono")
        stream.bit_rate = bitrate
        frame = av.AudioFrame.from_ndarray(np.repeat(voice, channels)[None, :], "s16", stream.layout)
        frame.sample_rate = rate
        for packet in (*stream.encode(frame), *stream.encode(None)):
            container.mux(packet)


def with_pyav(path: Path) -> int:
    """The real thing: FFmpeg's libraries as `tenor ingest` uses them."""
    with path.open("rb") as file:
        decoded = PyAvDecoder(file, path.name, Warnings(path.name), exact=True)
        try:
            return sum(len(block) for block in decoded.blocks())
        finally:
            decoded.close()


def with_miniaudio(path: Path) -> int:
    info = miniaudio.mp3_get_file_info(str(path))
    decoded = miniaudio.mp3_read_file_s16(str(path))
    return len(decoded.samples) // int(info.nchannels)


def with_soundfile(path: Path) -> int:
    samples, _ = soundfile.read(str(path), dtype="int16", always_2d=True)
    return int(samples.shape[0])


def with_subprocess(binary: str) -> Decoder:
    def decode(path: Path) -> int:
        command = ffmpeg.input(str(path)).output("pipe:", format="wav", acodec="pcm_s16le")
        wav, _ = command.run(cmd=binary, capture_stdout=True, capture_stderr=True)
        return int(soundfile.info(io.BytesIO(wav)).frames)

    return decode


def decoders() -> dict[str, Decoder]:
    found: dict[str, Decoder] = {
        "PyAV": with_pyav,
        "miniaudio": with_miniaudio,
        "soundfile": with_soundfile,
        "ffmpeg of imageio-ffmpeg": with_subprocess(imageio_ffmpeg.get_ffmpeg_exe()),
    }
    if system := shutil.which("ffmpeg"):
        found["ffmpeg of the system"] = with_subprocess(system)
    return found


def cpu_ms() -> float:
    """Of this process and the children it has waited for: what other work on the machine does not change."""
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return 1000 * sum(spent.ru_utime + spent.ru_stime for spent in usage)


def measure(path: Path) -> dict[str, Cost]:
    candidates = decoders()
    samples = {name: decode(path) for name, decode in candidates.items()}  # also loads libraries and files
    walls: dict[str, list[float]] = {name: [] for name in candidates}
    cpu = dict.fromkeys(candidates, 0.0)
    for _ in range(ROUNDS):
        for name, decode in candidates.items():
            begun, begun_cpu = time.perf_counter(), cpu_ms()
            decode(path)
            walls[name].append((time.perf_counter() - begun) * 1000)
            cpu[name] += cpu_ms() - begun_cpu
    return {
        name: Cost(statistics.median(walls[name]), min(walls[name]), cpu[name] / ROUNDS, samples[name])
        for name in candidates
    }


def show(title: str, path: Path) -> None:
    costs = measure(path)
    ours = costs["PyAV"]
    print(f"\n{title}: {path.stat().st_size / 1024:.0f} KB, {ROUNDS} rounds")
    print(f"  {'decoder':26} {'median':>9} {'best':>9} {'CPU':>9}  CPU x PyAV  samples")
    for name, cost in sorted(costs.items(), key=lambda item: item[1].cpu_ms):
        print(
            f"  {name:26} {cost.median_ms:6.1f} ms {cost.best_ms:6.1f} ms {cost.cpu_ms:6.1f} ms"
            f"  {cost.cpu_ms / ours.cpu_ms:10.2f}  {cost.samples}"
        )
    print(f"  chosen: PyAV, {ours.best_ms:.1f} ms at best, {ours.cpu_ms:.1f} ms of CPU, for the paper's 10 ms.")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sample.mp3"
        write_mp3(path, rate=44_100, channels=2, bitrate=128_000)
        show("music quality, 44.1 kHz stereo, 128 kbit/s", path)
        write_mp3(path, rate=16_000, channels=2, bitrate=48_000)
        show("a call, 16 kHz stereo, 48 kbit/s", path)


if __name__ == "__main__":
    main()
