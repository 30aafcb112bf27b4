"""Interleaved audio: the channels of one stream, taken apart."""

from __future__ import annotations

import numpy as np

from tenor.g711 import ULAW


class Deinterleaver:
    """Turns bytes of any length into 16-bit samples a channel; half a sample waits for its other half."""

    def __init__(self, channels: int, *, ulaw: bool) -> None:
        self._channels = channels
        self._ulaw = ulaw
        self._size = channels * (1 if ulaw else 2)
        self._rest = b""

    def split(self, data: bytes) -> list[bytes]:
        data = self._rest + data if self._rest else data
        whole = len(data) - len(data) % self._size
        self._rest = data[whole:]
        raw = np.frombuffer(data, np.uint8 if self._ulaw else "<i2", whole // (1 if self._ulaw else 2))
        samples = ULAW[raw] if self._ulaw else raw
        return [samples[channel :: self._channels].tobytes() for channel in range(self._channels)]
