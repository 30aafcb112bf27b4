"""Audio made at test time: bursts of noise that look like speech, in any format."""

from __future__ import annotations

import struct
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt

Sound = npt.NDArray[np.int16]


def voice(seconds: float, rate: int = 16_000, seed: int = 1, loud: int = 4000) -> Sound:
    """One speaker: syllables with pauses between them."""
    time_s = np.arange(round(seconds * rate)) / rate
    noise = np.random.default_rng(seed).standard_normal(len(time_s))
    smooth = np.convolve(noise, np.ones(6) / 6, mode="same")
    syllables = np.clip(np.sin(2 * np.pi * (2 + 0.3 * seed) * time_s + seed), 0, None)
    return np.asarray(smooth * syllables * loud, dtype=np.int16)


def two_voices(seconds: float, rate: int = 16_000) -> Sound:
    return np.stack([voice(seconds, rate, seed=1), voice(seconds, rate, seed=2)], axis=1)


def encode(path: Path, sound: Sound, rate: int, codec: str, *, layout: str = "", **options: str) -> Path:
    """Written by FFmpeg; the container goes by the name of the file."""
    channels = 1 if sound.ndim == 1 else sound.shape[1]
    layout = layout or {1: "mono", 2: "stereo"}[channels]
    with av.open(str(path), "w", options=options) as container:
        stream = container.add_stream(codec, rate=rate, layout=layout)
        _mux(container, stream, sound, rate, layout)
    return path


def encode_video(path: Path, sound: Sound, rate: int) -> Path:
    """A picture that goes dark, with the sound beside it."""
    with av.open(str(path), "w") as container:
        picture: Any = container.add_stream("mpeg4", rate=10)
        picture.width = picture.height = 64
        picture.pix_fmt = "yuv420p"
        track = container.add_stream("aac", rate=rate, layout="stereo")
        for number, shade in enumerate((250, 120, 10)):
            frame = av.VideoFrame.from_ndarray(np.full((64, 64, 3), shade, np.uint8), "rgb24")
            frame.pts, frame.time_base = number, Fraction(1, 10)
            container.mux(picture.encode(frame))
        container.mux(picture.encode(None))
        _mux(container, track, sound, rate, "stereo")
    return path


def _mux(container: Any, stream: Any, sound: Sound, rate: int, layout: str) -> None:
    frame = av.AudioFrame.from_ndarray(sound.reshape(1, -1), "s16", layout)
    frame.sample_rate = rate
    frame.pts, frame.time_base = 0, Fraction(1, rate)
    for packet in (*stream.encode(frame), *stream.encode(None)):
        container.mux(packet)


def silent_flac(seconds: float, rate: int = 8000, channels: int = 1) -> bytes:
    """Silence in as few bytes as FLAC can say it: 14 for the longest block there is."""
    block, total = 65_535, round(seconds * rate)
    packed = rate << 44 | (channels - 1) << 41 | 15 << 36 | total
    info = struct.pack(">HH", block, block) + bytes(6) + packed.to_bytes(8, "big") + bytes(16)
    frames = []
    for number in range(-(-total // block)):
        head = bytes((0xFF, 0xF8, 0x70, (channels - 1) << 4 | 8)) + chr(number).encode("utf-8", "surrogatepass")
        head += struct.pack(">H", block - 1)
        frame = head + bytes((_crc(head, 8, 0x07),)) + bytes(3 * channels)
        frames.append(frame + _crc(frame, 16, 0x8005).to_bytes(2, "big"))
    return b"fLaC" + bytes((0x80, 0, 0, len(info))) + info + b"".join(frames)


def _crc(data: bytes, bits: int, polynomial: int) -> int:
    crc = 0
    for byte in data:
        crc ^= byte << (bits - 8)
        for _ in range(8):
            crc = crc << 1 ^ (polynomial if crc >> (bits - 1) else 0)
            crc &= (1 << bits) - 1
    return crc
