"""FLAC decoded as it arrives, cut at any byte.

libavcodec has a parser for this, but it reads past the end of what it is given and holds back ten
frames; where a frame ends can be told from the header of the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import av

from asr.local.codecs.packets import decode_packet
from asr.local.errors import ApiError, invalid
from asr.local.stt.types import Samples

_LONGEST_METADATA = 1 << 24
_LONGEST_FRAME = 1 << 22
_LONGEST_HEADER = 16


class FlacDecoder:
    def __init__(self) -> None:
        self.rate = self.channels = 0
        self._codec = av.AudioCodecContext.create("flac", "r")
        self._buffer = bytearray()
        self._metadata = 0
        """Bytes of it so far."""
        self._in_frames = False
        self._next: tuple[int, int] | None = None
        """Blocking strategy and number that the header of the next frame must carry."""
        self._searched = 0

    def read(self, data: bytes) -> Iterator[Samples]:
        self._buffer += data
        if self._in_frames or self._read_metadata():
            for frame in self._frames():
                yield from decode_packet(self._codec, frame)

    def finish(self) -> Iterator[Samples]:
        if not self._in_frames:
            raise invalid("undecodable flac: it ends within its header")
        # A recording that was cut off ends within a frame; what came before it has been decoded.
        with suppress(ApiError):
            if self._buffer:
                yield from decode_packet(self._codec, bytes(self._buffer))
        yield from decode_packet(self._codec, None)

    def _read_metadata(self) -> bool:
        """Walk the metadata blocks, behind the four bytes that say it is FLAC; False while some are still to come."""
        head, begin = self._buffer, 0 if self._metadata else 4
        while not self._in_frames:
            if len(head) < begin + 4:
                return False
            last, kind = bool(head[begin] & 0x80), head[begin] & 0x7F
            size = int.from_bytes(head[begin + 1 : begin + 4], "big")
            end = begin + 4 + size
            if self._metadata + end > _LONGEST_METADATA:
                raise invalid("undecodable flac: its metadata does not end")
            if len(head) < end:
                return False
            if kind == 0:
                self._read_stream_info(bytes(head[begin + 4 : end]))
            del head[:end]
            self._metadata += end
            begin, self._in_frames = 0, last
        if not self.rate:
            raise invalid("undecodable flac: no stream information")
        return True

    def _read_stream_info(self, block: bytes) -> None:
        if len(block) != 34:
            raise invalid("undecodable flac: stream information of the wrong length")
        packed = int.from_bytes(block[10:14], "big")
        self.rate, self.channels = packed >> 12, (packed >> 9 & 7) + 1
        self._codec.extradata = block

    def _frames(self) -> Iterator[bytes]:
        """Whole frames: one is whole when the header that must follow it has arrived."""
        if self._next is None:
            if len(self._buffer) < _LONGEST_HEADER:
                return
            first = _following(self._buffer, 0)
            if first is None:
                raise invalid("undecodable flac: no frame where the first should be")
            self._next = first[1]
        while (found := self._find_next()) is not None:
            end, self._next = found
            frame = bytes(self._buffer[:end])
            del self._buffer[:end]
            self._searched = 0
            yield frame
        if len(self._buffer) > _LONGEST_FRAME:
            raise invalid("undecodable flac: a frame does not end")

    def _find_next(self) -> tuple[int, tuple[int, int]] | None:
        assert self._next is not None
        sync = bytes((0xFF, 0xF8 | self._next[0]))
        at = self._buffer.find(sync, max(1, self._searched))
        while 0 <= at <= len(self._buffer) - _LONGEST_HEADER:
            header = _following(self._buffer, at)
            if header is not None and header[0] == self._next:
                return at, header[1]
            at = self._buffer.find(sync, at + 1)
        self._searched = at if at >= 0 else max(0, len(self._buffer) - 1)
        return None


def _following(data: bytearray, at: int) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Strategy and number of the frame whose header is at `at`, and those of the frame after it."""
    if data[at] != 0xFF or data[at + 1] & 0xFE != 0xF8 or data[at + 3] & 1:
        return None
    variable, block_code, rate_code = data[at + 1] & 1, data[at + 2] >> 4, data[at + 2] & 0x0F
    coded = _number(data, at + 4)
    if coded is None or not block_code or rate_code == 15:
        return None
    number, end = coded
    if block_code in (6, 7):
        width = block_code - 5
        block = int.from_bytes(data[end : end + width], "big") + 1
        end += width
    else:
        block = 192 if block_code == 1 else 576 << block_code - 2 if block_code < 6 else 256 << block_code - 8
    end += {12: 1, 13: 2, 14: 2}.get(rate_code, 0)
    if end >= len(data) or _crc8(data[at:end]) != data[end]:
        return None
    return (variable, number), (variable, number + (block if variable else 1))


def _number(data: bytearray, at: int) -> tuple[int, int] | None:
    """A number coded as UTF-8 codes characters, up to 36 bits, and where it ends."""
    first = data[at]
    if first < 0x80:
        return first, at + 1
    length = 8 - (first ^ 0xFF).bit_length()
    if not 2 <= length <= 7:
        return None
    value = first & (0x7F >> length)
    for byte in data[at + 1 : at + length]:
        if byte & 0xC0 != 0x80:
            return None
        value = value << 6 | byte & 0x3F
    return value, at + length


def _crc8(data: bytearray) -> int:
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc << 1 ^ (0x107 if crc & 0x80 else 0)
    return crc
