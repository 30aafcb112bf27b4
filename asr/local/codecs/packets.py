"""What the decoders of compressed audio have in common.

The containers are taken apart here, so that libavcodec is handed whole packets: no thread has to wait
inside a demuxer for bytes that may never come, and what is kept is at most one page or one frame.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import av
import numpy as np
import numpy.typing as npt

from asr.local.errors import invalid
from asr.local.stt.types import Samples


class PacketDecoder(Protocol):
    """`rate` and `channels` are 0 until the header has been read; samples come as (frames, channels), packet by packet:
    few bytes may hold much."""

    rate: int
    channels: int

    def read(self, data: bytes) -> Iterator[Samples]: ...

    def finish(self) -> Iterator[Samples]: ...


def decode_packet(codec: av.AudioCodecContext, packet: bytes | None) -> Iterator[Samples]:
    """One packet to samples; None brings what the codec still holds."""
    try:
        frames = codec.decode(None if packet is None else av.Packet(packet))
    except av.error.FFmpegError as error:
        raise invalid(f"undecodable {codec.name}: {error.strerror}") from error
    for frame in frames:
        values: npt.NDArray[Any] = frame.to_ndarray()
        values = values.T if frame.format.is_planar else values.reshape(-1, frame.layout.nb_channels)
        if values.dtype == np.float32:
            values = np.clip(values * 32768.0, -32768, 32767)
        elif values.dtype == np.int32:
            values = values >> 16
        yield values.astype(np.int16)
