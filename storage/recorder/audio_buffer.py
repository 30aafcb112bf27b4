"""The audio of one call while it goes on: a file a channel, which the recording is made of when it is over."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import soxr

from tenor.events import AudioChunk

BUFFER = 32 * 1024
"""Bytes of a channel kept in memory before they are written: two seconds of telephone."""
BLOCK = 65_536
LONGEST_MS = 24 * 3600 * 1000
"""Nothing after this is recorded: a position out of nowhere must not make a file of days of silence."""
MOST_CHANNELS = 8
"""As many as FLAC has."""
JITTER_MS = 2
"""Positions are whole milliseconds: a chunk this close to the end of the last one follows it."""
MARGIN_MS = 100
"""Silenced on both sides of what is redacted: the times of words are not exact."""
OPUS_RATES = (8000, 12000, 16000, 24000, 48000)

Spans = Mapping[int, Iterable[tuple[int, int]]]
"""By channel: from and to, in milliseconds."""


class AudioBuffer:
    def __init__(self, folder: Path) -> None:
        self.rate = 0
        self._folder = folder
        self._channels: dict[int, ChannelBuffer] = {}

    @property
    def empty(self) -> bool:
        return not any(buffer.end for buffer in self._channels.values())

    def add(self, chunk: AudioChunk) -> None:
        """Take a chunk; what was heard before is left out, and what is missing will be silence."""
        if not self._sound(chunk):
            return
        pcm = chunk.pcm
        self.rate = self.rate or chunk.rate
        if chunk.rate != self.rate:
            pcm = soxr.resample(np.frombuffer(pcm, "<i2"), chunk.rate, self.rate).astype("<i2").tobytes()
        buffer = self._channels.get(chunk.channel)
        if buffer is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            buffer = self._channels[chunk.channel] = ChannelBuffer(self._folder / str(chunk.channel))
        buffer.add(round(chunk.start_ms * self.rate / 1000), pcm, JITTER_MS * self.rate // 1000)

    def write(self, target: Path, form: str, channels: int, silenced: Spans) -> None:
        """The recording: all channels side by side, as long as the longest."""
        for buffer in self._channels.values():
            buffer.flush()
        channels = min(max([channels, *(number + 1 for number in self._channels)]), MOST_CHANNELS)
        length = max(buffer.end for buffer in self._channels.values())
        quiet = {number: [self._samples(*span) for span in spans] for number, spans in silenced.items()}
        with ExitStack() as stack:
            out = stack.enter_context(_encoder(target, form, self.rate, channels))
            files = {number: stack.enter_context(buffer.path.open("rb")) for number, buffer in self._channels.items()}
            for start in range(0, length, BLOCK):
                block = np.zeros((min(BLOCK, length - start), channels), np.int16)
                for number, file in files.items():
                    samples = np.frombuffer(file.read(2 * len(block)), "<i2")
                    block[: len(samples), number] = samples
                    for first, last in quiet.get(number, ()):
                        block[max(0, first - start) : max(0, last - start), number] = 0
                out.write(block)

    def close(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def _samples(self, start_ms: int, end_ms: int) -> tuple[int, int]:
        first, last = start_ms - MARGIN_MS, end_ms + MARGIN_MS
        return max(0, first * self.rate // 1000), -(-last * self.rate // 1000)

    def _sound(self, chunk: AudioChunk) -> bool:
        """The recogniser's stage says what is wrong with the others."""
        placed = 0 <= chunk.channel < MOST_CHANNELS and 0 <= chunk.start_ms < LONGEST_MS
        return placed and 0 < chunk.rate <= 192_000 and len(chunk.pcm) % 2 == 0 and len(chunk.pcm) > 0


class ChannelBuffer:
    """One channel: samples in order, each position once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.end = 0
        """Samples so far."""
        self._buffer = bytearray()
        self._flushed = 0
        path.touch(mode=0o600)

    def add(self, position: int, pcm: bytes, jitter: int) -> None:
        if abs(position - self.end) <= jitter:
            position = self.end
        if position < self.end:
            pcm = pcm[2 * (self.end - position) :]
            position = self.end
        if not pcm:
            if len(self._buffer) >= BUFFER:
                self.flush()  # what could not be written before
            return
        gap = position - self.end
        if gap:
            self.flush()
            self._flushed = position
        self._buffer += pcm
        self.end = position + len(pcm) // 2
        if len(self._buffer) >= BUFFER:
            self.flush()

    def flush(self) -> None:
        if self._buffer:
            with self.path.open("r+b") as file:
                file.seek(2 * self._flushed)  # beyond the end: the gap reads as silence
                file.write(self._buffer)
            self._flushed += len(self._buffer) // 2
            self._buffer.clear()


def _encoder(target: Path, form: str, rate: int, channels: int) -> Any:
    if form == "flac":
        return soundfile.SoundFile(target, "w", rate, channels, "PCM_16", format="FLAC")
    return _Opus(target, rate, channels)


class _Opus:
    """Opus has a few rates only; others are brought to the next higher one."""

    def __init__(self, target: Path, rate: int, channels: int) -> None:
        to = next((known for known in OPUS_RATES if known >= rate), OPUS_RATES[-1])
        self._file = soundfile.SoundFile(target, "w", to, channels, "OPUS", format="OGG")
        self._resample = soxr.ResampleStream(rate, to, channels, dtype="int16") if to != rate else None

    def write(self, block: np.ndarray[Any, Any]) -> None:
        self._file.write(self._resample.resample_chunk(block) if self._resample else block)

    def __enter__(self) -> _Opus:
        return self

    def __exit__(self, *exc: object) -> None:
        if self._resample and exc[0] is None:
            self._file.write(self._resample.resample_chunk(np.zeros((0, self._file.channels), np.int16), last=True))
        self._file.close()
