"""An MP4 (M4A) from a pipe: most programs write its table at the end, so it is stored before it can be read."""

from __future__ import annotations

import io
import struct
import tempfile
from typing import BinaryIO, cast

from tenor.errors import BadInput

_BRANDS = (b"ftyp", b"wide", b"free", b"skip", b"pnot", b"uuid")
"""What may come before the table or the sound."""
_HEAD = 8
_MOST_HEAD = 1 << 20
MOST_BYTES = 4 << 30
"""Of a file that is stored: days of speech."""
_PART = 1 << 20


def readable(pipe: BinaryIO, name: str) -> BinaryIO:
    """The pipe as it was, or a stored copy of what comes through it if that is an MP4 with its table at the end."""
    read = _exactly(pipe, _HEAD)
    if read[4:8] != b"ftyp":
        return _rejoined(read, pipe)
    begin = 0
    while len(read) >= begin + _HEAD and len(read) < _MOST_HEAD:
        size, kind = struct.unpack_from(">I4s", read, begin)
        if kind not in _BRANDS:
            return _stored(read, pipe, name) if kind == b"mdat" else _rejoined(read, pipe)
        if size < _HEAD:
            break
        begin += size
        read += _exactly(pipe, max(0, min(begin + _HEAD, _MOST_HEAD) - len(read)))
    return _rejoined(read, pipe)


class _Rejoined(io.RawIOBase):
    """A pipe of which the beginning was read."""

    def __init__(self, head: bytes, pipe: BinaryIO) -> None:
        self._head, self._pipe = head, pipe

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if not self._head:
            return self._pipe.read(size)
        given, self._head = (self._head, b"") if size < 0 else (self._head[:size], self._head[size:])
        return given

    def close(self) -> None:
        super().close()
        self._pipe.close()


def _rejoined(read: bytes, pipe: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, _Rejoined(read, pipe))


def _stored(read: bytes, pipe: BinaryIO, name: str) -> BinaryIO:
    stored = tempfile.TemporaryFile()  # noqa: SIM115 -- the reader closes it
    try:
        stored.write(read)
        while part := pipe.read(_PART):
            stored.write(part)
            if stored.tell() > MOST_BYTES:
                raise BadInput(f"{name} is larger than {MOST_BYTES >> 30} GB", "name the file in place of the pipe")
    except BaseException:
        stored.close()
        raise
    pipe.close()
    stored.seek(0)
    return cast(BinaryIO, stored)


def _exactly(pipe: BinaryIO, size: int) -> bytes:
    """So many bytes, or what there is: a pipe gives less at a time."""
    read = b""
    while len(read) < size and (part := pipe.read(size - len(read))):
        read += part
    return read
