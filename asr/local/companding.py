"""G.711: mu-law and A-law bytes to 16-bit samples, by a table of the 256 possible bytes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def _mu_law() -> npt.NDArray[np.int16]:
    code = ~np.arange(256, dtype=np.uint8)
    exponent = ((code >> 4) & 0x07).astype(np.int32)
    mantissa = (code & 0x0F).astype(np.int32)
    magnitude = (((mantissa << 3) + 0x84) << exponent) - 0x84
    return np.where(code & 0x80, -magnitude, magnitude).astype(np.int16)


def _a_law() -> npt.NDArray[np.int16]:
    code = np.arange(256, dtype=np.uint8) ^ 0x55
    exponent = ((code >> 4) & 0x07).astype(np.int32)
    mantissa = (code & 0x0F).astype(np.int32)
    linear = (mantissa << 4) + 8
    magnitude = np.where(exponent == 0, linear, (linear + 0x100) << np.maximum(exponent - 1, 0))
    return np.where(code & 0x80, magnitude, -magnitude).astype(np.int16)


MU_LAW = _mu_law()
A_LAW = _a_law()
