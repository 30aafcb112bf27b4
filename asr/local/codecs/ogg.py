"""Ogg Opus decoded as it arrives, cut at any byte."""

from __future__ import annotations

from collections.abc import Iterator

import av

from asr.local.codecs.packets import decode_packet
from asr.local.errors import invalid
from asr.local.stt.types import Samples

_END_OF_STREAM = 4
_LONGEST_PACKET = 1 << 20


class OggOpusDecoder:
    def __init__(self) -> None:
        self.rate = self.channels = 0
        self._codec = av.AudioCodecContext.create("opus", "r")
        self._buffer = bytearray()
        self._packet = bytearray()
        self._packets_seen = 0
        self._pre_skip = 0
        self._given = 0

    def read(self, data: bytes) -> Iterator[Samples]:
        self._buffer += data
        while (page := self._take_page()) is not None:
            flags, position, packets = page
            # The last page says where the recording really ends; the codec pads to a whole frame.
            last = bool(flags & _END_OF_STREAM) and position >= 0
            for samples in (samples for packet in packets for samples in self._decode(packet)):
                kept = samples[: max(0, position - self._pre_skip - self._given)] if last else samples
                self._given += len(kept)
                yield kept

    def finish(self) -> Iterator[Samples]:
        if not self.rate:
            raise invalid("undecodable ogg: it ends within its header")
        yield from ()

    def _take_page(self) -> tuple[int, int, list[bytes]] | None:
        """The next whole page: its flags, its granule position and the packets that end in it."""
        buffer = self._buffer
        if len(buffer) < 27 or len(buffer) < 27 + buffer[26]:
            return None
        if buffer[:4] != b"OggS":
            raise invalid("undecodable ogg: a page does not begin where the last one ended")
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
        if len(self._packet) > _LONGEST_PACKET:
            raise invalid("undecodable ogg: a packet does not end")
        flags, position = buffer[5], int.from_bytes(buffer[6:14], "little", signed=True)
        del buffer[:start]
        return flags, position, packets

    def _decode(self, packet: bytes) -> Iterator[Samples]:
        self._packets_seen += 1
        if self._packets_seen == 1:
            self._read_head(packet)
        elif self._packets_seen > 2 and packet:
            yield from decode_packet(self._codec, packet)

    def _read_head(self, packet: bytes) -> None:
        if not packet.startswith(b"OpusHead") or len(packet) < 19 or not packet[9]:
            raise invalid("undecodable ogg: it does not hold Opus")
        self.rate, self.channels = 48000, packet[9]
        self._pre_skip = int.from_bytes(packet[10:12], "little")
        self._codec.extradata = packet
