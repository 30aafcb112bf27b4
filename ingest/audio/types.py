"""What every source of audio gives: a description of it, and blocks of 16-bit samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from tenor.errors import BadInput

Samples = npt.NDArray[np.int16]
"""One row per moment, one column per channel."""


class AudioFormat(NamedTuple):
    codec: str
    rate: int
    channels: tuple[str, ...]
    """Names of the channels: `front left`, `front right`, ..."""
    lossy: bool
    duration_s: float | None = None
    """As the container tells it; None when it does not."""


class AudioReader(Protocol):
    """An open source of audio."""

    format: AudioFormat

    @property
    def packed_bytes(self) -> int:
        """What was read of the source so far, or more."""
        ...

    def blocks(self) -> Iterator[Samples]:
        """All samples in order, in blocks of the length asked for. Raises `BrokenSource` when the source does."""
        ...

    def interrupt(self) -> None:
        """Have a thread that waits in `blocks` come back, where that can be done."""
        ...

    def close(self) -> None: ...


class BrokenSource(BadInput):
    """The source broke after some audio came; what came is good."""


def channel_names(count: int) -> tuple[str, ...]:
    """Names when the container tells none."""
    if count == 1:
        return ("mono",)
    if count == 2:
        return ("front left", "front right")
    return tuple(f"channel {number}" for number in range(count))
