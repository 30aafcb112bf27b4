"""FLAC and Ogg Opus decoded as they arrive, cut at any byte.

The containers are taken apart here, so that libavcodec is handed whole packets and no thread has to
wait inside a demuxer for bytes that may never come. What is kept is at most one page or one frame.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import av
import numpy as np
import numpy.typing as npt

from asr.local.hearing import Samples
from asr.local.refusal import Refusal, invalid

_LONGEST_METADATA = 1 << 24


class Decoder(Protocol):
    """`rate` and `channels` are 0 until the header has been read; samples come as (frames, channels)."""

    rate: int
    channels: int

    def read(self, data: bytes) -> Samples: ...

    def finish(self) -> Samples: ...


class FlacDecoder:
    def __init__(self) -> None:
        self.rate = self.channels = 0
        self._codec = av.AudioCodecContext.create("flac", "r")
        self._head: bytearray | None = bytearray()

    def read(self, data: bytes) -> Samples:
        if self._head is not None:
            self._head += data
            rest = self._read_head(self._head)
            if rest is None:
                return _joined([], self.channels)
            data = rest
            self._head = None
        return _joined(self._decode(data), self.channels)

    def finish(self) -> Samples:
        if self._head is not None:
            raise invalid("undecodable FLAC: it ends within its header")
        return _joined([*self._decode(None), *_frames(self._codec, None)], self.channels)

    def _read_head(self, head: bytearray) -> bytes | None:
        """Walk the metadata blocks; what follows them, or None while some are still to come."""
        at, last = 4, False
        while not last:
            if len(head) < at + 4:
                return None
            last, kind = bool(head[at] & 0x80), head[at] & 0x7F
            size = int.from_bytes(head[at + 1 : at + 4], "big")
            if len(head) < at + 4 + size:
                if len(head) > _LONGEST_METADATA:
                    raise invalid("undecodable FLAC: its metadata does not end")
                return None
            if kind == 0:
                self._read_stream_info(bytes(head[at + 4 : at + 4 + size]))
            at += 4 + size
        if not self.rate:
            raise invalid("undecodable FLAC: no stream information")
        return bytes(head[at:])

    def _read_stream_info(self, block: bytes) -> None:
        if len(block) < 34:
            raise invalid("undecodable FLAC: stream information cut short")
        packed = int.from_bytes(block[10:14], "big")
        self.rate, self.channels = packed >> 12, (packed >> 9 & 7) + 1
        self._codec.extradata = block

    def _decode(self, data: bytes | None) -> Iterator[Samples]:
        try:
            packets = self._codec.parse(data)
            while packets:
                for packet in packets:
                    yield from _frames(self._codec, packet)
                # At the end the parser hands out what it held back one frame at a time.
                packets = self._codec.parse(None) if data is None else []
        except av.error.FFmpegError as error:
            raise _undecodable("FLAC", error) from error


class OggOpusDecoder:
    def __init__(self) -> None:
        self.rate = self.channels = 0
        self._codec = av.AudioCodecContext.create("opus", "r")
        self._buffer = bytearray()
        self._packet = bytearray()
        self._packets_seen = 0
        self._pre_skip = 0
        self._given = 0

    def read(self, data: bytes) -> Samples:
        self._buffer += data
        heard: list[Samples] = []
        while (page := self._take_page()) is not None:
            flags, position, packets = page
            heard += [samples for packet in packets for samples in self._decode(packet)]
            if flags & 4 and position >= 0:
                # The last page says where the recording really ends; the codec pads to a whole frame.
                surplus = self._given + sum(map(len, heard)) - max(0, position - self._pre_skip)
                heard = _cut(heard, surplus)
        samples = _joined(heard, self.channels)
        self._given += len(samples)
        return samples

    def finish(self) -> Samples:
        if not self.rate:
            raise invalid("undecodable Ogg: it ends within its header")
        return _joined([], self.channels)

    def _take_page(self) -> tuple[int, int, list[bytes]] | None:
        """The next whole page: its flags, its granule position and the packets that end in it."""
        buffer = self._buffer
        if len(buffer) < 27 or len(buffer) < 27 + buffer[26]:
            return None
        if buffer[:4] != b"OggS":
            raise invalid("undecodable Ogg: a page does not begin where the last one ended")
        segments = bytes(buffer[27 : 27 + buffer[26]])
        start = 27 + len(segments)
        if len(buffer) < start + sum(segments):
            return None
        packets = []
        for size in segments:
            self._packet += buffer[start : start + size]
            start += size
            if size < 255:
                packets.append(bytes(self._packet))
                self._packet.clear()
        flags, position = buffer[5], int.from_bytes(buffer[6:14], "little", signed=True)
        del buffer[:start]
        return flags, position, packets

    def _decode(self, packet: bytes) -> Iterator[Samples]:
        self._packets_seen += 1
        if self._packets_seen == 1:
            if not packet.startswith(b"OpusHead") or len(packet) < 19:
                raise invalid("undecodable Ogg: it does not hold Opus")
            self.rate, self.channels = 48000, packet[9]
            self._pre_skip = int.from_bytes(packet[10:12], "little")
            self._codec.extradata = packet
        elif self._packets_seen > 2 and packet:
            try:
                yield from _frames(self._codec, av.Packet(packet))
            except av.error.FFmpegError as error:
                raise _undecodable("Opus", error) from error


def _frames(codec: av.AudioCodecContext, packet: av.Packet[Any] | None) -> Iterator[Samples]:
    for frame in codec.decode(packet):
        values: npt.NDArray[Any] = frame.to_ndarray()
        values = values.T if frame.format.is_planar else values.reshape(-1, frame.layout.nb_channels)
        if values.dtype == np.float32:
            values = np.clip(values * 32768.0, -32768, 32767)
        elif values.dtype == np.int32:
            values = values >> 16
        yield values.astype(np.int16)


def _joined(parts: Iterator[Samples] | list[Samples], channels: int) -> Samples:
    return np.concatenate([np.empty((0, max(1, channels)), np.int16), *parts])


def _cut(parts: list[Samples], surplus: int) -> list[Samples]:
    """Without the last `surplus` frames."""
    if surplus <= 0 or not parts:
        return parts
    whole = np.concatenate(parts)
    return [whole[: max(0, len(whole) - surplus)]]


def _undecodable(what: str, error: Exception) -> Refusal:
    return invalid(f"undecodable {what}: {error}")
