"""What the decoders of compressed audio have in common.

The containers are taken apart here, so that libavcodec is handed whole packets: no thread has to wait
inside a demuxer for bytes that may never come, and what is kept is at most one page or one frame.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import av
import numpy as np
import numpy.typing as npt

from asr.local.errors import invalid
from asr.local.stt.types import Samples


class PacketDecoder(Protocol):
    """`rate` and `channels` are 0 until the header has been read; samples come as (frames, channels)."""

    rate: int
    channels: int

    def read(self, data: bytes) -> Samples: ...

    def finish(self) -> Samples: ...


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


def concatenated(parts: Iterable[Samples], channels: int) -> Samples:
    """All parts in one; a stream keeps the channels its header promised."""
    found = [np.empty((0, max(1, channels)), np.int16), *parts]
    if any(part.shape[1] != found[0].shape[1] for part in found):
        raise invalid("undecodable audio: the number of channels changes within the stream")
    return np.concatenate(found)
