"""Decoding by the `ffmpeg` program: for codecs that PyAV's build lacks, or by choice.

The system's program is used, or the one that imageio-ffmpeg brings when there is none.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from typing import BinaryIO

import ffmpeg
import imageio_ffmpeg
import numpy as np

from ingest.audio.bounds import check_format
from ingest.audio.types import AudioFormat, BrokenSource, Samples, channel_names
from tenor.errors import BadInput

_PART = 1 << 16
LOSSLESS = ("pcm_s", "pcm_u", "pcm_f", "flac", "alac", "wavpack", "tta", "ape", "shorten")


def program() -> str:
    return shutil.which("ffmpeg") or str(imageio_ffmpeg.get_ffmpeg_exe())


class FfmpegDecoder:
    """A file decoded by an `ffmpeg` subprocess that writes WAV to a pipe."""

    def __init__(self, file: BinaryIO, name: str, path: str | None, chunk_ms: int = 100) -> None:
        """With a `path` ffmpeg reads it itself and may seek; else `file` is pumped into it."""
        self._file, self._name, self._chunk_ms = file, name, chunk_ms
        self.packed_bytes = os.path.getsize(path) if path else 0
        url = f"file:{path}" if path else "pipe:"
        command = ffmpeg.input(url, protocol_whitelist="file,pipe", strict="experimental")
        command = command.output("pipe:", format="wav", acodec="pcm_s16le", map="0:a:0", map_metadata=-1)
        arguments = ffmpeg.compile(command.global_args("-hide_banner", "-nostats"), cmd=program())
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 (closed in close)
        self._process = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL if path else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
        )
        if self._process.stdin:
            threading.Thread(target=self._pump, args=(file,), daemon=True).start()
        assert self._process.stdout
        self._out = self._process.stdout
        try:
            rate, channels = self._header()
        except (struct.error, EOFError):
            reason = self._last_words()
            self.close()
            raise BadInput(f"{name} is not audio that FFmpeg can read", hint=reason) from None
        codec, duration_s = self._description()
        self.format = AudioFormat(
            codec=codec,
            rate=rate,
            channels=channel_names(channels),
            lossy=not codec.startswith(LOSSLESS),
            duration_s=duration_s,
        )
        try:
            check_format(name, self.format)
        except BadInput:
            self.close()
            raise

    def blocks(self) -> Iterator[Samples]:
        channels = len(self.format.channels)
        size = max(1, self.format.rate * self._chunk_ms // 1000) * channels * 2
        while data := self._out.read(size):
            whole = len(data) - len(data) % (2 * channels)
            yield np.frombuffer(data[:whole], dtype="<i2").reshape(-1, channels)
        if self._process.wait():
            raise BrokenSource(f"{self._name} cannot be read on: {self._last_words()}")

    def interrupt(self) -> None:
        self._process.kill()

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._out, self._process.stdin, self._said, self._file):
            if pipe and not pipe.closed:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue

    def _pump(self, file: BinaryIO) -> None:
        assert self._process.stdin
        try:
            while part := file.read(_PART):
                self.packed_bytes += len(part)
                self._process.stdin.write(part)
            self._process.stdin.close()
        except (OSError, ValueError):
            return  # ffmpeg has gone, and blocks() says why

    def _header(self) -> tuple[int, int]:
        """Rate and channels from the WAV header, which is read up to its samples."""
        self._exactly(12)
        rate = channels = 0
        while True:
            kind, size = struct.unpack("<4sI", self._exactly(8))
            if kind == b"data":
                return rate, channels
            body = self._exactly(size + size % 2)
            if kind == b"fmt ":
                channels, rate = struct.unpack_from("<HI", body, 2)

    def _exactly(self, size: int) -> bytes:
        data = self._out.read(size)
        if len(data) < size:
            raise EOFError
        return data

    def _told(self) -> str:
        # Not seek and read: the position in the file is shared with ffmpeg, which is still writing.
        return os.pread(self._said.fileno(), 65_536, 0).decode(errors="replace")

    def _last_words(self) -> str:
        self._process.wait(timeout=10)
        lines = self._told().strip().splitlines()
        return lines[-1].strip() if lines else "ffmpeg stopped"

    def _description(self) -> tuple[str, float | None]:
        told = self._told()
        codec = re.search(r"Audio: (\w+)", told)
        length = re.search(r"Duration: (\d+):(\d+):([\d.]+)", told)
        seconds = int(length[1]) * 3600 + int(length[2]) * 60 + float(length[3]) if length else None
        return codec[1] if codec else "unknown", seconds
