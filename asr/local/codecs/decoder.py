"""What a client sends as audio, whatever it is, turned into samples.

NVIDIA's file clients send a file byte for byte, header included, and say nothing about it, so the
first bytes decide: WAV, FLAC, Ogg Opus, or no header at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from riva.client.proto import riva_audio_pb2

from asr.local.codecs.flac import FlacDecoder
from asr.local.codecs.ogg import OggOpusDecoder
from asr.local.codecs.packets import PacketDecoder
from asr.local.codecs.wav import A_LAW as WAV_A_LAW
from asr.local.codecs.wav import MU_LAW as WAV_MU_LAW
from asr.local.codecs.wav import PCM as WAV_PCM
from asr.local.codecs.wav import WavReader
from asr.local.errors import header_mismatch, invalid, only_mono, rate_out_of_range, too_many_channels
from asr.local.stt.types import Samples
from tenor.g711 import ALAW, ULAW
from tenor.reading import is_endless

Encoding = riva_audio_pb2.AudioEncoding
MODEL_RATE = 16000
TELEPHONE_RATE = 8000
LOWEST_RATE, HIGHEST_RATE = 8000, 96000
MOST_CHANNELS = 8
_WAV_ENCODING = {WAV_PCM: Encoding.LINEAR_PCM, WAV_A_LAW: Encoding.ALAW, WAV_MU_LAW: Encoding.MULAW}
_COMPANDED = {Encoding.MULAW: ULAW, Encoding.ALAW: ALAW}


@dataclass(frozen=True, slots=True)
class DeclaredFormat:
    """What the configuration says about the audio; 0 says nothing."""

    encoding: int = Encoding.ENCODING_UNSPECIFIED
    rate: int = 0
    channels: int = 0
    separate_channels: bool = False
    """Several channels are welcome and each is recognised on its own."""

    def check(self) -> None:
        """Refuse what no audio could make right, before any arrives."""
        if self.encoding not in Encoding.values():
            raise invalid(f"encoding {self.encoding} is not an audio encoding of Riva")
        if self.rate and not LOWEST_RATE <= self.rate <= HIGHEST_RATE:
            raise rate_out_of_range(self.rate)
        if self.channels < 0:
            raise invalid(f"audio_channel_count must not be negative, got {self.channels}")
        if self.channels > MOST_CHANNELS:
            raise too_many_channels(self.channels)
        if self.channels > 1 and not self.separate_channels:
            raise only_mono()


class AudioDecoder:
    """Takes the bytes of one stream, cut anywhere, and gives samples as (frames, channels), piece by piece: a few bytes
    may hold hours, and whoever takes the pieces sets the pace.

    `rate` and `channels` are 0 until enough has arrived to know them; samples never come before that.
    """

    def __init__(self, declared: DeclaredFormat) -> None:
        declared.check()
        self.rate = self.channels = 0
        self._declared = declared
        self._waiting = bytearray()
        self._encoding = 0
        self._wav: WavReader | None = None
        self._decoder: PacketDecoder | None = None
        self._rest = b""
        self._sniffed = False
        self._bytes = self._frames = 0

    def read(self, data: bytes) -> Iterator[Samples]:
        self._bytes += len(data)
        if not self._sniffed:
            self._waiting += data
            kind = _sniff(bytes(self._waiting[:12]))
            if kind is None:
                return
            data = self._begin(kind)
        yield from self._checked(self._read(data))

    def finish(self) -> Iterator[Samples]:
        """What was still held back. A stream too short to tell what it is has no header."""
        if not self._sniffed and self._waiting:
            yield from self._checked(self._read(self._begin("")))
        elif self._decoder is not None:
            yield from self._checked(self._decoder.finish())

    def _begin(self, kind: str) -> bytes:
        self._sniffed = True
        asked = self._declared.encoding
        if kind == "wav":
            self._wav = WavReader()
        elif kind:
            if asked not in (Encoding.ENCODING_UNSPECIFIED, Encoding.Value(kind)):
                raise header_mismatch()
            self._decoder = FlacDecoder() if kind == "FLAC" else OggOpusDecoder()
        else:
            if asked in (Encoding.FLAC, Encoding.OGGOPUS):
                raise invalid(f"undecodable audio: {Encoding.Name(asked)} was announced, but this is not it")
            rate = self._declared.rate or (TELEPHONE_RATE if asked in _COMPANDED else MODEL_RATE)
            self._settle(asked or Encoding.LINEAR_PCM, rate, self._declared.channels or 1)
        waiting = bytes(self._waiting)
        self._waiting.clear()
        return waiting

    def _read(self, data: bytes) -> Iterator[Samples]:
        if self._decoder is not None:
            yield from self._decoder.read(data)
            return
        if self._wav is not None:
            data = self._wav.read(data)
            if not self.rate and self._wav.format is not None:
                self._settle_wav(self._wav)
        if self.rate:
            yield self._samples(data)

    def _settle_wav(self, wav: WavReader) -> None:
        assert wav.format is not None
        declared, encoding = self._declared, _WAV_ENCODING[wav.format.tag]
        pairs = (
            (declared.encoding, encoding),
            (declared.rate, wav.format.rate),
            (declared.channels, wav.format.channels),
        )
        if any(expected and expected != actual for expected, actual in pairs):
            raise header_mismatch()
        self._settle(encoding, wav.format.rate, wav.format.channels)

    def _checked(self, pieces: Iterator[Samples]) -> Iterator[Samples]:
        """Compressed streams are believed about rate and channels: NVIDIA's C++ client makes up both."""
        for samples in pieces:
            if self._decoder is not None and not self.rate:
                self._settle(self._encoding, self._decoder.rate, self._decoder.channels)
            if samples.shape[1] != self.channels:
                raise invalid("undecodable audio: the number of channels changes within the stream")
            self._frames += len(samples)
            if is_endless(self._frames / self.rate, self._bytes):
                raise invalid(f"undecodable audio: {self._bytes} bytes that unpack without end")
            if len(samples):
                yield samples

    def _settle(self, encoding: int, rate: int, channels: int) -> None:
        if not LOWEST_RATE <= rate <= HIGHEST_RATE:
            raise rate_out_of_range(rate)
        if channels > 1 and not self._declared.separate_channels:
            raise only_mono()
        if channels > MOST_CHANNELS:
            raise too_many_channels(channels)
        self._encoding, self.rate, self.channels = encoding, rate, channels

    def _samples(self, data: bytes) -> Samples:
        """Headerless bytes to samples; half a frame is kept for the next message."""
        table = _COMPANDED.get(self._encoding)
        frame = self.channels * (2 if table is None else 1)
        if self._rest:
            data = self._rest + data
        whole = len(data) - len(data) % frame
        self._rest = data[whole:]
        if table is None:
            values = np.frombuffer(data, "<i2", whole // 2).astype(np.int16, copy=False)
        else:
            values = table[np.frombuffer(data, np.uint8, whole)]
        return values.reshape(-1, self.channels)


def _sniff(start: bytes) -> str | None:
    """`wav`, `FLAC`, `OGGOPUS`, or "" for no header; None while too little has arrived."""
    for magic, kind in ((b"fLaC", "FLAC"), (b"OggS", "OGGOPUS")):
        if start[:4] == magic:
            return kind
        if len(start) < 4 and magic.startswith(start):
            return None
    if start[:4] == b"RIFF"[: len(start[:4])]:
        if len(start) < 12:
            return None
        return "wav" if start[8:12] == b"WAVE" else ""
    return ""
