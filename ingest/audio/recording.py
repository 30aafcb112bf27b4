"""A recording: one source, opened, its channels given to speakers, read in blocks."""

from __future__ import annotations

import os
import re
import secrets
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import PurePosixPath
from typing import BinaryIO, NamedTuple, Self

from ingest.audio.bounds import blocks_of
from ingest.audio.dual_mono import DualMonoDetector
from ingest.audio.ffmpeg_decoder import FfmpegDecoder
from ingest.audio.joined_files import JoinedFiles
from ingest.audio.microphone import Microphone
from ingest.audio.piped_mp4 import readable
from ingest.audio.pyav_decoder import NoDecoder, PyAvDecoder
from ingest.audio.types import AudioFormat, AudioReader, BrokenSource, Samples
from ingest.options import IngestOptions
from ingest.sources import Source
from ingest.warnings import Warnings
from tenor.errors import BadInput
from tenor.events import Call
from tenor.reading import reading
from tenor.redaction.about import hidden

GOOD_RATE = 16_000
"""Recognisers are trained at this rate; less costs accuracy."""


class Block(NamedTuple):
    """The same moment of every speaker."""

    start_ms: int
    end_ms: int
    pcm: tuple[bytes, ...]
    """16-bit little-endian samples by speaker."""


class Recording:
    """One call to be. Use as `with open_recording(source, options) as recording`."""

    def __init__(
        self,
        source: Source,
        options: IngestOptions,
        audio: AudioReader,
        warnings: Warnings,
        digest: str,
    ) -> None:
        self.source = source
        self.options = options
        self.warnings = warnings
        self.format: AudioFormat = audio.format
        self.digest = digest
        """SHA-256 of the file; empty for a stream."""
        self._audio = audio
        self._reading = threading.Lock()
        self._error: BrokenSource | None = None
        self._samples = blocks_of(audio, source.name)
        self.columns = _columns(options, audio.format)
        begun = self._begin()
        shared = options.share(len(self.columns))
        self.roles = options.ordered_roles if shared else options.roles_for(len(self.columns))
        self.speakers = self.roles if shared else ()
        self.call = options.call or _call_id(source, digest) + options.ending
        self._blocks = self._cut(chain(begun, self._samples))
        self._warn(audio.format)

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def duration_ms(self) -> int | None:
        """As announced by the file; None for streams."""
        seconds = self.format.duration_s
        return None if seconds is None else round(seconds * 1000)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Block]:
        return self._blocks

    def read(self, blocks: int) -> list[Block]:
        """At most so many blocks more; empty at the end. Raises `BrokenSource`, but not before all was given."""
        read: list[Block] = []
        with self._reading:
            if self._error:
                raise self._error
            try:
                read.extend(islice(self._blocks, blocks))  # keeps what came before an error
            except BrokenSource as error:
                self._error = error
                if not read:
                    raise
        return read

    def close(self) -> None:
        self._audio.interrupt()
        # A thread that waits for a silent pipe keeps the lock; what it reads from goes with the process.
        if self._reading.acquire(timeout=1.0):
            self._blocks = iter(())
            self._audio.close()
            self._reading.release()

    def info(self, started_at: float) -> Call:
        """What CallStarted tells."""
        options = self.options
        attributes = {
            "file": self.name,
            "files": str(self.source.files) if self.source.pieces else "",
            "codec": self.format.codec,
            "channels": ", ".join(self.format.channels[column] for column in self.columns),
            "sha256": self.digest if self.source.kind == "file" else "",
            "warnings": "\n".join(self.warnings),
        }
        return Call(
            source={"microphone": "microphone", "stream": "stdin"}.get(self.source.kind, "file"),
            roles=self.roles,
            speakers=self.speakers,
            started_at=started_at,
            rate=self.format.rate,
            site=options.site,
            queue=options.queue,
            agent=options.agent,
            customer=options.customer,
            language=options.language,
            record=options.record,
            redact=options.redact,
            attributes={key: value for key, value in attributes.items() if value} | dict(options.attributes),
        )

    def _begin(self) -> list[Samples]:
        """The first blocks, as many as it takes to know that there is sound and whose it is."""
        first = next(self._samples, None)
        if first is None or not len(first):
            raise BadInput(f"{self.name} holds no audio")
        begun = [first]
        if len(self.columns) != 2 or self.options.split is True:
            return begun
        if self.options.split is False:
            self.columns = self.columns[:1]
            return begun
        if self.source.kind == "microphone":
            return begun
        detector = DualMonoDetector(self.format.rate)
        detector.hear(first[:, self.columns])
        try:
            while not detector.decided and (block := next(self._samples, None)) is not None:
                begun.append(block)
                detector.hear(block[:, self.columns])
        except BrokenSource as error:
            self._samples = _broken(error)
        if detector.same:
            self.columns = self.columns[:1]
            self.warnings.add("both channels carry the same; heard as one channel")
        return begun

    def _cut(self, samples: Iterator[Samples]) -> Iterator[Block]:
        heard, rate = 0, self.format.rate
        for block in samples:
            begin, heard = heard, heard + len(block)
            pcm = tuple(block[:, column].astype("<i2").tobytes() for column in self.columns)
            yield Block(begin * 1000 // rate, heard * 1000 // rate, pcm)

    def _warn(self, audio: AudioFormat) -> None:
        if audio.lossy:
            self.warnings.add(f"{audio.codec} is lossy; recognition is better from a lossless recording")
        if audio.rate < GOOD_RATE:
            self.warnings.add(f"{audio.rate} Hz; recognition is better from {GOOD_RATE} Hz and more")
        if self.options.channels is None and len(audio.channels) > max(2, len(self.columns)):
            heard = " and ".join(audio.channels[column] for column in self.columns)
            self.warnings.add(f"{len(audio.channels)} channels ({', '.join(audio.channels)}); heard: {heard}")


def open_recording(source: Source, options: IngestOptions | None = None) -> Recording:
    """Open a source far enough to know that it can be heard; `BadInput` says in a line why it cannot."""
    options = options or IngestOptions()
    warnings = Warnings(source.name)
    if source.kind == "microphone":
        wanted = max(options.channels) + 1 if options.channels else 1
        microphone = Microphone(source.location, warnings, channels=wanted, chunk_ms=options.chunk_ms)
        return _recording(source, options, microphone, warnings, "")
    with reading(source.name):
        digest = "" if source.live else source.digest()
        if source.kind == "folder":
            pieces = JoinedFiles(source, lambda piece: _opened(piece, options, warnings), warnings)
            return _recording(source, options, pieces, warnings, digest)
        return _recording(source, options, _opened(source, options, warnings), warnings, digest)


def _recording(
    source: Source, options: IngestOptions, audio: AudioReader, warnings: Warnings, digest: str
) -> Recording:
    try:
        return Recording(source, options, audio, warnings, digest)
    except BaseException:
        audio.close()
        raise


def _opened(source: Source, options: IngestOptions, warnings: Warnings) -> AudioReader:
    with reading(source.name):
        file = source.open()
        try:
            if source.kind == "stream":
                file = readable(file, source.name)
            return _decoder(source, file, options, warnings)
        except BaseException:
            file.close()
            raise


def _decoder(source: Source, file: BinaryIO, options: IngestOptions, warnings: Warnings) -> AudioReader:
    """Closes the file when it is closed."""
    path = source.location if source.kind == "file" else None
    exact = not source.live and _read_header(file, source.name, warnings)
    if options.decoder == "ffmpeg":
        return FfmpegDecoder(file, source.name, path, options.chunk_ms)
    try:
        return PyAvDecoder(file, source.name, warnings, options.chunk_ms, exact=exact, live=source.live)
    except NoDecoder:
        if source.live:
            raise
        file.seek(0)
        return FfmpegDecoder(file, source.name, path, options.chunk_ms)


def _read_header(file: BinaryIO, name: str, warnings: Warnings) -> bool:
    """Whether an MP3 tells its exact length. Refuses empty files, and warns of a WAV that was cut off: FFmpeg does not
    pass on what the first bytes tell."""
    head = file.read(12)
    if not head:
        raise BadInput(f"{name} is empty")
    if head[:4] == b"RIFF" and head[8:] == b"WAVE":
        _compare_size(file, struct.unpack("<I", head[4:8])[0] + 8, warnings)
    start = 0
    if head[:3] == b"ID3" and len(head) == 12:
        start = 10 + sum(byte << shift for byte, shift in zip(head[6:10], (21, 14, 7, 0), strict=True))
    file.seek(start)
    first_frame = file.read(256)
    file.seek(0)
    return any(mark in first_frame for mark in (b"Xing", b"Info", b"VBRI"))


def _compare_size(file: BinaryIO, announced: int, warnings: Warnings) -> None:
    """Programs that write to a pipe leave a size of 0 or of about 4 GB in the header: those know nothing."""
    size = file.seek(0, os.SEEK_END)
    if size < announced < 0xFFFF_0000:
        warnings.add(f"incomplete: the file ends after {100 * size // announced} % of its length")


def _columns(options: IngestOptions, audio: AudioFormat) -> Sequence[int]:
    count = len(audio.channels)
    if options.channels is None:
        if len(options.roles) > max(2, count):
            raise BadInput(f"{len(options.roles)} roles for {count} {'channel' if count == 1 else 'channels'}")
        return list(range(min(count, max(2, len(options.roles)))))
    if max(options.channels) >= count:
        raise BadInput(
            f"there is no channel {max(options.channels)}", hint=f"0 to {count - 1}: {', '.join(audio.channels)}"
        )
    return list(options.channels)


def _broken(error: BrokenSource) -> Iterator[Samples]:
    raise error
    yield


def _call_id(source: Source, digest: str) -> str:
    """From the content where there is one, so that hearing a file twice is one call."""
    if digest:
        stem = re.sub(r"[^A-Za-z0-9._-]+", "-", hidden(PurePosixPath(source.name).stem)).strip("-.")[:40] or "audio"
        return f"file-{stem}-{digest[:8]}"
    kind = "mic" if source.kind == "microphone" else "stdin"
    return f"{kind}-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{secrets.token_hex(2)}"
