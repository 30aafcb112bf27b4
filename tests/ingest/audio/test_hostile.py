"""Recordings made to break a reader: each is heard as far as it is good, or refused in a line."""

from __future__ import annotations

import resource
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.audio.publisher import publish_recordings
from ingest.audio.pyav_decoder import PyAvDecoder
from ingest.audio.recording import open_recording
from ingest.audio.types import BrokenSource, Samples
from ingest.options import IngestOptions
from ingest.sources import Source
from tenor.errors import BadInput
from tenor.reading import LEAST_BYTES
from tests.ingest.audio.listener import Listener
from tests.ingest.audio.sounds import silent_flac


def wav(rate: int, channels: int, content: bytes = bytes(4000)) -> bytes:
    form = struct.pack("<HHIIHH", 1, channels, rate, rate * channels * 2 & 0xFFFFFFFF, channels * 2 & 0xFFFF, 16)
    chunks = b"fmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", len(content)) + content
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks


@pytest.mark.parametrize("decoder", ["auto", "ffmpeg"])
def test_a_few_kilobytes_that_hold_days_of_silence(tmp_path: Path, decoder: str) -> None:
    path = tmp_path / "silence.flac"
    path.write_bytes(silent_flac(4 * 3600))
    assert path.stat().st_size < 30_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ends_ms: list[int] = []
    options = IngestOptions(decoder=decoder)  # type: ignore[arg-type]
    with (
        open_recording(Source("file", str(path)), options) as recording,
        pytest.raises(BrokenSource, match=r"silence\.flac cannot be read on: .* bytes that unpack without end"),
    ):
        ends_ms.extend(block.end_ms for block in recording)
    assert 3600 <= ends_ms[-1] / 1000 < 3600 + path.stat().st_size / LEAST_BYTES + 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


def test_an_hour_of_silence_is_heard(tmp_path: Path) -> None:
    path = tmp_path / "silence.flac"
    path.write_bytes(silent_flac(3500))
    with open_recording(Source("file", str(path))) as recording:
        assert [block.end_ms for block in recording][-1] > 3_490_000


@pytest.mark.parametrize("decoder", ["auto", "ffmpeg"])
@pytest.mark.parametrize(("rate", "channels"), [(1, 1), (0, 1), (2**31, 1), (2**32 - 1, 2), (768_000, 64), (8000, 0)])
def test_rates_and_channels_that_no_recording_has(tmp_path: Path, rate: int, channels: int, decoder: str) -> None:
    path = tmp_path / "odd.wav"
    path.write_bytes(wav(rate, channels))
    with pytest.raises(BadInput, match=r"odd\.wav"):
        open_recording(Source("file", str(path)), IngestOptions(decoder=decoder))  # type: ignore[arg-type]


async def test_whatever_a_decoder_raises_is_the_files_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At its beginning or in the middle; the others are heard."""
    blocks = PyAvDecoder.blocks

    def breaking(decoder: PyAvDecoder) -> Iterator[Samples]:
        name = decoder._name
        for number, block in enumerate(blocks(decoder)):
            if name == f"{number}.wav":
                raise ZeroDivisionError
            yield block

    monkeypatch.setattr(PyAvDecoder, "blocks", breaking)
    names = ["0.wav", "3.wav", "good.wav"]
    for number, name in enumerate(names):
        (tmp_path / name).write_bytes(wav(8000, 1, bytes([number, 1]) * 8000))
    results = await publish_recordings(Listener().bus, [Source("file", str(tmp_path / name)) for name in names])
    begun, middle, good = results
    assert begun.error is not None
    assert begun.error.message == "0.wav cannot be read: ZeroDivisionError"
    assert middle.published is not None
    assert middle.published.failed
    assert middle.published.reason == "3.wav cannot be read: ZeroDivisionError"
    assert middle.published.heard_ms == 300
    assert good.published is not None
    assert not good.published.failed
