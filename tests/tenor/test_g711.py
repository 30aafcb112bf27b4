"""Telephone codecs against the definition's own landmarks, and there and back again."""

from __future__ import annotations

import numpy as np
import pytest

from tenor.g711 import (
    ALAW,
    ULAW,
    Samples,
    decode_alaw,
    decode_ulaw,
    encode_alaw,
    encode_ulaw,
)


@pytest.mark.parametrize(
    ("code", "sample"),
    [(0xFF, 0), (0x7F, 0), (0x00, -32124), (0x80, 32124), (0xFE, 8), (0x7E, -8), (0xEF, 132), (0x8F, 16764)],
)
def test_mu_law_landmarks(code: int, sample: int) -> None:
    assert decode_ulaw(bytes([code])).tolist() == [sample]


@pytest.mark.parametrize(
    ("code", "sample"), [(0xD5, 8), (0x55, -8), (0x2A, -32256), (0xAA, 32256), (0xD4, 24), (0xC5, 264)]
)
def test_a_law_landmarks(code: int, sample: int) -> None:
    assert decode_alaw(bytes([code])).tolist() == [sample]


def test_every_code_survives_the_way_back() -> None:
    codes = bytes(range(256))
    # 0x7f is a second, negative zero of mu-law; it comes back as the first.
    assert encode_ulaw(decode_ulaw(codes)) == codes.replace(b"\x7f", b"\xff")
    assert encode_alaw(decode_alaw(codes)) == codes


@pytest.mark.parametrize("table", [ULAW, ALAW])
def test_tables_are_symmetric(table: Samples) -> None:
    assert len(table) == 256
    assert sorted(table.tolist()) == sorted((-table.astype(int)).tolist())


def test_error_stays_below_the_step() -> None:
    samples = np.arange(-32768, 32768, dtype=np.int32).astype(np.int16)
    for encode, decode in ((encode_ulaw, decode_ulaw), (encode_alaw, decode_alaw)):
        error = np.abs(decode(encode(samples)).astype(int) - samples.astype(int))
        assert np.all(error <= np.maximum(16, np.abs(samples.astype(int)) / 16))
