"""Speech on its way out: at the rate and in the encoding the client asked for."""

from __future__ import annotations

import struct
from typing import Protocol

import av
import numpy as np
import soxr
from riva.client.proto import riva_audio_pb2

from asr.local.errors import invalid
from asr.local.stt.types import Samples

Encoding = riva_audio_pb2.AudioEncoding
LOWEST_RATE, HIGHEST_RATE = 8000, 48000
_OPUS_RATES = (8000, 12000, 16000, 24000, 48000)
_OPUS_FRAME_MS = 20


class AudioEncoder(Protocol):
    """Turns the samples of one request into bytes that simply follow each other."""

    rate: int

    def encode(self, samples: Samples) -> bytes: ...

    def finish(self) -> bytes: ...


class PcmEncoder:
    def __init__(self, rate: int, voice_rate: int) -> None:
        self.rate = rate
        self._voice_rate = voice_rate

    def encode(self, samples: Samples) -> bytes:
        return _resampled(samples, self._voice_rate, self.rate).astype("<i2", copy=False).tobytes()

    def finish(self) -> bytes:
        return b""


class OpusEncoder:
    """Not an Ogg file: Riva sends each packet with its length before it, as four little-endian bytes."""

    def __init__(self, rate: int, voice_rate: int) -> None:
        self.rate = rate
        self._voice_rate = voice_rate
        self._size = rate * _OPUS_FRAME_MS // 1000
        self._rest = np.empty(0, np.int16)
        self._position = 0
        codec = av.AudioCodecContext.create("libopus", "w")
        codec.sample_rate, codec.format, codec.layout = rate, "s16", "mono"
        codec.options = {"application": "voip", "frame_duration": str(_OPUS_FRAME_MS)}
        self._codec = codec

    def encode(self, samples: Samples) -> bytes:
        pending = np.concatenate([self._rest, _resampled(samples, self._voice_rate, self.rate)])
        whole = len(pending) - len(pending) % self._size
        self._rest = pending[whole:]
        return b"".join(self._packets(frame) for frame in pending[:whole].reshape(-1, self._size))

    def finish(self) -> bytes:
        tail = b""
        if len(self._rest):
            tail = self._packets(np.pad(self._rest, (0, self._size - len(self._rest))))
            self._rest = np.empty(0, np.int16)
        return tail + self._packets(None) if self._position else tail

    def _packets(self, samples: Samples | None) -> bytes:
        frame = None
        if samples is not None:
            frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1), format="s16", layout="mono")
            frame.sample_rate, frame.pts = self.rate, self._position
            self._position += len(samples)
        packets = [bytes(packet) for packet in self._codec.encode(frame)]
        return b"".join(struct.pack("<i", len(packet)) + packet for packet in packets)


def make_encoder(encoding: int, rate: int, voice_rate: int) -> AudioEncoder:
    """`rate` 0 is the voice's own, or with Opus the nearest it knows."""
    if rate and not LOWEST_RATE <= rate <= HIGHEST_RATE:
        raise invalid(f"sample_rate_hz must be between {LOWEST_RATE} and {HIGHEST_RATE}, got {rate}")
    if encoding in (Encoding.ENCODING_UNSPECIFIED, Encoding.LINEAR_PCM):
        return PcmEncoder(rate or voice_rate, voice_rate)
    if encoding != Encoding.OGGOPUS:
        name = Encoding.Name(encoding) if encoding in Encoding.values() else str(encoding)
        raise invalid(f"encoding {name} is not offered for speech: ask for LINEAR_PCM or OGGOPUS")
    if rate and rate not in _OPUS_RATES:
        raise invalid(f"sample_rate_hz with OGGOPUS must be one of {', '.join(map(str, _OPUS_RATES))}, got {rate}")
    return OpusEncoder(rate or next(each for each in _OPUS_RATES if each >= min(voice_rate, 48000)), voice_rate)


def _resampled(samples: Samples, source: int, target: int) -> Samples:
    if source == target or not len(samples):
        return samples
    resampled: Samples = soxr.resample(samples, source, target)
    return resampled
