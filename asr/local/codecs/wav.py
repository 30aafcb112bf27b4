"""RIFF/WAVE read as it arrives: chunks are walked, never assumed to be 44 bytes long."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from asr.local.errors import invalid

PCM, A_LAW, MU_LAW, EXTENSIBLE = 1, 6, 7, 0xFFFE
_ENDLESS = (0, 0xFFFFFFFF)
_LONGEST_FMT = 4096


@dataclass(frozen=True, slots=True)
class WavFormat:
    tag: int
    channels: int
    rate: int


class WavReader:
    """Takes bytes cut anywhere and gives the bytes of the data chunk; `format` is known before the first."""

    def __init__(self) -> None:
        self.format: WavFormat | None = None
        self._buffer = bytearray()
        self._skip = 12
        """Bytes still to be thrown away: RIFF, its size and WAVE, then chunks nobody needs."""
        self._left: int | None = 0
        """Bytes left in the data chunk; None when the recorder did not know where it would end."""
        self._in_data = False

    def read(self, data: bytes) -> bytes:
        self._buffer += data
        while not self._in_data:
            if self._skip:
                skipped = min(self._skip, len(self._buffer))
                del self._buffer[:skipped]
                self._skip -= skipped
            if self._skip or not self._next_chunk():
                return b""
        return self._data()

    def _next_chunk(self) -> bool:
        """Step into the next chunk; False when its header has not arrived yet."""
        if len(self._buffer) < 8:
            return False
        name, size = struct.unpack_from("<4sI", self._buffer)
        if name == b"data":
            if self.format is None:
                raise invalid("undecodable WAV: its data chunk comes before its fmt chunk")
            self._in_data = True
            self._left = None if size in _ENDLESS else size
            del self._buffer[:8]
            return True
        padded = size + (size & 1)
        if name == b"fmt ":
            if not 16 <= size <= _LONGEST_FMT:
                raise invalid(f"undecodable WAV: a fmt chunk of {size} bytes")
            if len(self._buffer) < 8 + size:
                return False
            self.format = _read_format(bytes(self._buffer[8 : 8 + size]))
        self._skip = 8 + padded
        return True

    def _data(self) -> bytes:
        taken = bytes(self._buffer if self._left is None else self._buffer[: self._left])
        self._buffer.clear()
        if self._left is not None:
            self._left -= len(taken)
        return taken


def _read_format(chunk: bytes) -> WavFormat:
    tag, channels, rate, _, _, bits = struct.unpack_from("<HHIIHH", chunk)
    if tag == EXTENSIBLE and len(chunk) >= 26:
        tag = struct.unpack_from("<H", chunk, 24)[0]
    if (tag, bits) not in ((PCM, 16), (A_LAW, 8), (MU_LAW, 8)):
        raise invalid(f"WAV format tag {tag} with {bits} bits is not served: send 16-bit PCM, mu-law or A-law")
    if not channels:
        raise invalid("undecodable WAV: no channels")
    return WavFormat(tag, channels, rate)
