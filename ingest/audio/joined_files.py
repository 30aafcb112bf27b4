"""A conversation that was kept as many short files, a sentence or a turn each: one recording with pauses between."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import soxr

from ingest.audio.bounds import blocks_of
from ingest.audio.types import AudioFormat, AudioReader, Samples
from ingest.sources import Source
from ingest.warnings import Warnings
from tenor.errors import BadInput, TenorError

PAUSE_S = 0.8
"""Between two files: long enough for each to end its own sentence."""


class JoinedFiles:
    """The files one after the other, in the format of the first. One that cannot be read is told and left out."""

    def __init__(self, folder: Source, open_audio: Callable[[Source], AudioReader], warnings: Warnings) -> None:
        self._files = iter(folder.pieces)
        self._open_audio, self._warnings = open_audio, warnings
        self._name, self._packed_bytes = "", 0
        first = self._next()
        if first is None:
            raise BadInput(f"none of the files in {folder.name} can be read")
        self._piece: AudioReader | None = first
        self.format: AudioFormat = first.format._replace(duration_s=None)

    @property
    def packed_bytes(self) -> int:
        return self._packed_bytes + (self._piece.packed_bytes if self._piece else 0)

    def blocks(self) -> Iterator[Samples]:
        while self._piece is not None:
            try:
                yield from self._fitted(self._piece)
            except TenorError as error:
                self._warnings.add(error.message)
            self._packed_bytes += self._piece.packed_bytes
            self._piece.close()
            self._piece = self._next()
            if self._piece is not None:
                yield np.zeros((int(self.format.rate * PAUSE_S), len(self.format.channels)), np.int16)

    def interrupt(self) -> None:
        """Files do not wait."""

    def close(self) -> None:
        if self._piece is not None:
            self._piece.close()

    def _next(self) -> AudioReader | None:
        for file in self._files:
            self._name = file.name
            try:
                return self._open_audio(file)
            except TenorError as error:
                self._warnings.add(f"{error.message}; left out")
        return None

    def _fitted(self, piece: AudioReader) -> Iterator[Samples]:
        rate, channels = self.format.rate, len(self.format.channels)
        if piece.format.rate == rate and len(piece.format.channels) == channels:
            yield from blocks_of(piece, self._name)
            return
        resampler = soxr.ResampleStream(piece.format.rate, rate, channels, dtype="int16")
        for block in blocks_of(piece, self._name):
            if len(piece.format.channels) != channels:
                block = np.repeat(block.mean(axis=1, keepdims=True).astype(np.int16), channels, axis=1)
            yield resampler.resample_chunk(block)
        yield resampler.resample_chunk(np.zeros((0, channels), np.int16), last=True)
