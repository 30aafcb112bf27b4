"""A 100 KB MP3 to PCM16 in memory: which decoder is fast, in one run, as ratios.

    python -m benchmarks.decoding [--rounds 25]

The paper (WP-7328) names 10 ms for this step. Decoders take turns, so that a busy machine slows all of
them alike; the ratio of the medians is what to compare between machines. Each decoder must deliver the
whole recording at its native rate and channels. The winner is what `ingest/decoding.py` uses.
"""

from __future__ import annotations

import argparse
import io
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import av
import ffmpeg
import imageio_ffmpeg
import miniaudio
import numpy as np
import soundfile

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
    samples = 0
    with av.open(str(path)) as container:
        track = container.streams.audio[0]
        resampler = av.AudioResampler(format="s16", frame_size=track.rate // 10)
        for frame in (*container.decode(track), None):
            for out in resampler.resample(frame):
                samples += out.to_ndarray().size // out.layout.nb_channels
    return samples


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


def measure(path: Path, rounds: int) -> dict[str, list[float]]:
    candidates = decoders()
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for turn in range(rounds + 1):
        for name, decode in candidates.items():
            begun = time.perf_counter()
            decode(path)
            if turn:  # the first round loads libraries and files
                times[name].append((time.perf_counter() - begun) * 1000)
    return times


def show(title: str, path: Path, rounds: int) -> None:
    samples = {name: decode(path) for name, decode in decoders().items()}
    times = measure(path, rounds)
    reference = statistics.median(times["PyAV"])
    print(f"\n{title}: {path.stat().st_size / 1024:.0f} KB, {rounds} rounds")
    print(f"  {'decoder':26} {'median':>9} {'best':>9} {'p95':>9}  x PyAV  within 10 ms  samples")
    for name, values in sorted(times.items(), key=lambda item: statistics.median(item[1])):
        median, p95 = statistics.median(values), sorted(values)[int(len(values) * 0.95)]
        fits = "yes" if median <= 10 else "no"
        print(
            f"  {name:26} {median:6.1f} ms {min(values):6.1f} ms {p95:6.1f} ms"
            f"  {median / reference:6.2f}  {fits:>12}  {samples[name]}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=25)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sample.mp3"
        write_mp3(path, rate=44_100, channels=2, bitrate=128_000)
        show("music quality, 44.1 kHz stereo, 128 kbit/s", path, rounds)
        write_mp3(path, rate=16_000, channels=2, bitrate=48_000)
        show("a call, 16 kHz stereo, 48 kbit/s", path, rounds)


if __name__ == "__main__":
    main()
