"""Sound in the forms clients send it."""

from __future__ import annotations

import io
import struct
from typing import Any

import av
import numpy as np

from asr.local.stt.types import Samples
from tenor.g711 import ALAW, ULAW


def wav(samples: Samples, rate: int = 16000, *, tag: int = 1, size: int | None = None, extras: bytes = b"") -> bytes:
    """A WAV file; `extras` are chunks before the data, `size` what the header claims."""
    channels = 1 if samples.ndim == 1 else samples.shape[1]
    data = {1: _pcm, 6: a_law, 7: mu_law}[tag & 0xFF](samples)
    bits = 16 if tag & 0xFF == 1 else 8
    block = channels * bits // 8
    if tag > 0xFF:
        subformat = struct.pack("<H", tag & 0xFF) + bytes.fromhex("000000001000800000aa00389b71")
        fmt = struct.pack("<HHIIHHHHI", 0xFFFE, channels, rate, rate * block, block, bits, 22, bits, 4) + subformat
    else:
        fmt = struct.pack("<HHIIHH", tag, channels, rate, rate * block, block, bits)
    body = b"WAVE" + b"fmt " + struct.pack("<I", len(fmt)) + fmt + extras
    body += b"data" + struct.pack("<I", len(data) if size is None else size) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body


LIST_CHUNK = b"LIST" + struct.pack("<I", 26) + b"INFOISFT" + struct.pack("<I", 14) + b"Lavf58.29.100\0"


def _pcm(samples: Samples) -> bytes:
    return samples.tobytes()


def mu_law(samples: Samples) -> bytes:
    return _nearest(samples, ULAW)


def a_law(samples: Samples) -> bytes:
    return _nearest(samples, ALAW)


def _nearest(samples: Samples, table: Samples) -> bytes:
    order = np.argsort(table, kind="stable")
    values = table[order].astype(np.int32)
    at = np.clip(np.searchsorted(values, samples.reshape(-1)), 1, 255)
    left = samples.reshape(-1) - values[at - 1] < values[at] - samples.reshape(-1)
    return order[at - left].astype(np.uint8).tobytes()


def flac(samples: Samples, rate: int = 16000) -> bytes:
    return _container(samples, rate, "flac", "flac", rate)


def ogg_opus(samples: Samples, rate: int = 16000) -> bytes:
    return _container(samples, rate, "ogg", "libopus", 48000)


def _container(samples: Samples, rate: int, name: str, codec: str, codec_rate: int) -> bytes:
    layout = "mono" if samples.ndim == 1 else "stereo"
    written = io.BytesIO()
    with av.open(written, "w", format=name) as file:
        stream: Any = file.add_stream(codec, rate=codec_rate)
        stream.layout = layout
        frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1), format="s16", layout=layout)
        frame.sample_rate = rate
        size = stream.codec_context.frame_size or None
        resampler = av.AudioResampler(format="s16", layout=layout, rate=codec_rate, frame_size=size)
        for piece in [*resampler.resample(frame), *resampler.resample(None)]:
            file.mux(stream.encode(piece))
        file.mux(stream.encode(None))
    return written.getvalue()
