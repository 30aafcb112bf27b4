"""G.711, the sound of the telephone: mu-law and A-law bytes to 16-bit samples and back.

Decoding is one look-up in a table of 256 entries; the tables are computed here from the definition
(ITU-T G.711), since Python 3.13 has no `audioop` any more.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Samples = npt.NDArray[np.int16]

_BIAS = 0x84
_CLIP = 32635


def _ulaw_table() -> Samples:
    code = ~np.arange(256, dtype=np.uint8)
    exponent = ((code >> 4) & 7).astype(np.int32)
    mantissa = (code & 0x0F).astype(np.int32)
    magnitude = (((mantissa << 3) + _BIAS) << exponent) - _BIAS
    return np.where(code & 0x80, -magnitude, magnitude).astype(np.int16)


def _alaw_table() -> Samples:
    code = np.arange(256, dtype=np.uint8) ^ 0x55
    exponent = ((code >> 4) & 7).astype(np.int32)
    mantissa = (code & 0x0F).astype(np.int32)
    magnitude = np.where(exponent == 0, (mantissa << 4) + 8, ((mantissa << 4) + 0x108) << np.maximum(exponent - 1, 0))
    return np.where(code & 0x80, magnitude, -magnitude).astype(np.int16)


ULAW = _ulaw_table()
ALAW = _alaw_table()


def decode_ulaw(data: bytes) -> Samples:
    return ULAW[np.frombuffer(data, np.uint8)]


def decode_alaw(data: bytes) -> Samples:
    return ALAW[np.frombuffer(data, np.uint8)]


def encode_ulaw(samples: Samples) -> bytes:
    """The nearest mu-law codes: what we send back to a telephone, and what tests speak."""
    value = samples.astype(np.int32)
    magnitude = np.minimum(np.abs(value), _CLIP) + _BIAS
    exponent = np.floor(np.log2(magnitude)).astype(np.int32) - 7
    mantissa = (magnitude >> (exponent + 3)) & 0x0F
    sign = np.where(value < 0, 0x80, 0)
    codes: npt.NDArray[np.uint8] = (~(sign | (exponent << 4) | mantissa) & 0xFF).astype(np.uint8)
    return codes.tobytes()


def encode_alaw(samples: Samples) -> bytes:
    value = samples.astype(np.int32)
    # A-law has no zero: its lowest step spans 0..15 on one side and -1..-16 on the other.
    magnitude = np.minimum(np.where(value < 0, ~value, value), 32767)
    exponent = np.maximum(np.floor(np.log2(np.maximum(magnitude, 1))).astype(np.int32) - 7, 0)
    mantissa = np.where(exponent == 0, magnitude >> 4, magnitude >> (exponent + 3)) & 0x0F
    sign = np.where(value < 0, 0, 0x80)
    codes: npt.NDArray[np.uint8] = ((sign | (exponent << 4) | mantissa) ^ 0x55).astype(np.uint8)
    return codes.tobytes()
