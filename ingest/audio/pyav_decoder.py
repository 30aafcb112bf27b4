"""Anything FFmpeg reads, decoded to 16-bit samples at its own rate, in constant memory.

FFmpeg's libraries run in this process (PyAV): a subprocess takes two and a half times as long for a short
MP3 (benchmarks/speech/decoding.py). Where this build has no decoder for a codec, or when asked for, the
`ffmpeg` program does it instead (ingest/audio/ffmpeg_decoder.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, BinaryIO

import av
import numpy as np

from ingest.audio.bounds import check_format
from ingest.audio.types import AudioFormat, BrokenSource, Samples, channel_names
from ingest.warnings import Warnings
from tenor.errors import BadInput, TenorError

LOSSY = 2  # AV_CODEC_PROP_LOSSY
HEADED = {"wav", "w64", "aiff", "au", "caf", "flac", "mov", "matroska"}
"""Containers whose header tells the real length; the others' is a guess from the bit rate."""
GATHER = 10
"""Blocks converted at once."""
PATIENCE = 500
"""Frames of NaN at the beginning of a float file before it is refused: a minute or so."""
MISSING_S = 0.2
"""A recording with so much less than announced was cut off, or lost a piece. Less is a codec's padding."""


class NoDecoder(BadInput):
    """The codec is known, but this build of FFmpeg cannot decode it."""


class PyAvDecoder:
    """A file decoded by FFmpeg's libraries."""

    def __init__(
        self,
        file: BinaryIO,
        name: str,
        warnings: Warnings,
        chunk_ms: int = 100,
        *,
        exact: bool = False,
        live: bool = False,
    ) -> None:
        """`exact`: the length it tells is no guess, whatever the container. `live`: give blocks at once."""
        self._file, self._name, self._warnings, self._chunk_ms = file, name, warnings, chunk_ms
        self._gather = 1 if live else GATHER
        self._damaged = 0
        self.packed_bytes = 0
        self._exact = exact
        try:
            # No protocols: a playlist dressed up as audio must not open other files or addresses.
            self._container: Any = av.open(file, options={"protocol_whitelist": "none"})
        except av.error.FFmpegError:
            raise BadInput(f"{name} is not audio that FFmpeg can read") from None
        except Exception as error:  # of the file: every store has errors of its own
            raise BadInput(f"{name} cannot be read: {_reason(error)}") from None
        try:
            self._open()
        except BaseException:
            self._container.close()
            raise

    def _open(self) -> None:
        tracks = self._container.streams.audio
        if not tracks:
            raise BadInput(f"{self._name} has no audio track")
        if len(tracks) > 1:
            self._warnings.add(f"{len(tracks)} audio tracks; only the first is heard")
        self._track = tracks[0]
        codec = self._track.codec_context
        if codec is None:
            raise NoDecoder(f"no decoder for the audio of {self._name}")
        self._floats = codec.name.startswith("pcm_f")
        frames = self._decode()
        # What the header says of rate and channels may be wrong (HE-AAC); the first frame is right.
        first = next(frames, None)
        if first is None:
            raise BadInput(f"{self._name} holds no audio")
        self._frames = chain(self._until_a_number(first, frames) if self._floats else [first], frames)
        layout = first.layout
        named = [channel.description for channel in layout.channels]
        plain = any(name == "none" for name in named) or layout.nb_channels < 3
        duration = self._track.duration
        seconds = float(duration * self._track.time_base) if duration and self._track.time_base else None
        self.format = AudioFormat(
            codec=codec.codec.canonical_name,
            rate=first.sample_rate,
            channels=channel_names(layout.nb_channels) if plain else tuple(named),
            lossy=bool(codec.codec.properties & LOSSY),
            duration_s=seconds,
        )
        check_format(self._name, self.format)
        self._exact = self._exact or bool(HEADED & set(self._container.format.name.split(",")))

    def blocks(self) -> Iterator[Samples]:
        heard = 0
        for samples in self._converted():
            heard += len(samples)
            for begin in range(0, len(samples), self._size):
                yield samples[begin : begin + self._size]
        if self._damaged:
            self._warnings.add(f"{self._damaged} damaged {'place' if self._damaged == 1 else 'places'} skipped")
        announced = self.format.duration_s
        seconds = heard / self.format.rate
        if self._exact and announced and seconds < announced - MISSING_S:
            self._warnings.add(f"incomplete: {seconds:.1f} s of {announced:.1f} s are there")

    def interrupt(self) -> None:
        """Decoding does not wait, and a read of the file cannot be called back."""

    def close(self) -> None:
        self._container.close()
        self._file.close()

    @property
    def _size(self) -> int:
        return max(1, self.format.rate * self._chunk_ms // 1000)

    def _converted(self) -> Iterator[Samples]:
        """16-bit samples, a whole number of blocks at a time until the end.

        A codec's frames are short, and converting each costs as much as decoding it; so they are
        gathered first."""
        shape, fifo, resampler = None, av.AudioFifo(), None
        for frame in self._frames:
            if _shape(frame) != shape:
                if fifo.samples:
                    yield from self._convert(resampler, fifo.read())
                shape, fifo, resampler = _shape(frame), av.AudioFifo(), self._resampler(frame)
            if self._floats:
                frame = self._finite(frame)
            frame.pts = None  # gaps in the times are damage, and counted as such
            fifo.write(frame)
            if fifo.samples >= self._size * self._gather:
                yield from self._convert(resampler, fifo.read(fifo.samples - fifo.samples % self._size))
        if fifo.samples:
            yield from self._convert(resampler, fifo.read())
        yield from self._convert(resampler, None)

    def _resampler(self, frame: Any) -> Any:
        if frame.sample_rate == self.format.rate and frame.layout.nb_channels == len(self.format.channels):
            return av.AudioResampler(format="s16")
        layout = {1: "mono", 2: "stereo"}.get(len(self.format.channels))
        if layout is None:
            raise BrokenSource(f"{self._name} cannot be read on: the number of channels changes")
        self._warnings.add("the audio format changes in the middle; it was brought to that of the beginning")
        return av.AudioResampler(format="s16", layout=layout, rate=self.format.rate)

    def _convert(self, resampler: Any, frame: Any) -> Iterator[Samples]:
        for out in resampler.resample(frame):
            # Interleaved on purpose: PyAV's arrays of planar audio fail from eight channels on.
            yield out.to_ndarray().reshape(-1, len(self.format.channels))

    def _until_a_number(self, first: Any, frames: Iterator[Any]) -> list[Any]:
        """The frames up to one that has a number in it; a file without any is no audio."""
        looked_at = [first]
        while not np.isfinite(looked_at[-1].to_ndarray()).any():
            following = next(frames, None)
            if following is None or len(looked_at) > PATIENCE:
                raise BadInput(f"{self._name} holds no audio: its samples are not numbers (NaN or infinite)")
            looked_at.append(following)
        return looked_at

    def _finite(self, frame: Any) -> Any:
        """Float files may hold NaN and infinity, which would become full-scale noise."""
        values = frame.to_ndarray()
        finite = np.isfinite(values)
        if finite.all():
            return frame
        self._warnings.add("some samples are not numbers (NaN or infinite); they were silenced")
        clean = av.AudioFrame.from_ndarray(np.where(finite, values, 0), frame.format.name, frame.layout)
        clean.sample_rate, clean.pts, clean.time_base = frame.sample_rate, frame.pts, frame.time_base
        return clean

    def _decode(self) -> Iterator[Any]:
        try:
            for packet in self._container.demux(self._track):
                self.packed_bytes += packet.size
                try:
                    yield from packet.decode()
                except av.error.DecoderNotFoundError:
                    raise NoDecoder(f"no decoder for the audio of {self._name}") from None
                except (av.error.InvalidDataError, av.error.PatchWelcomeError, av.error.BugError):
                    self._damaged += 1
        except TenorError:
            raise
        except Exception as error:  # of FFmpeg or of the file
            raise BrokenSource(f"{self._name} cannot be read on: {_reason(error)}") from None


def _shape(frame: Any) -> tuple[str, int, str]:
    return frame.format.name, frame.sample_rate, frame.layout.name


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", "") or error or type(error).__name__)
