"""The sample calls can be heard, and their audio follows their scripts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from examples.make_calls import CALLS, RATE, SPEAKERS, read
from ingest.audio.recording import open_recording
from ingest.sources import expand

NAMES = sorted(path.stem for path in CALLS.glob("*.yaml"))


def test_every_script_has_its_audio() -> None:
    assert len(NAMES) >= 5
    assert [Path(source.location).stem for source in expand([str(CALLS)])] == NAMES
    assert sum(path.stat().st_size for path in CALLS.glob("*.ogg")) < 3_000_000


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_call(name: str) -> None:
    (source,) = expand([str(CALLS / f"{name}.ogg")])
    with open_recording(source) as recording:
        assert recording.roles == SPEAKERS
        assert recording.format.rate == RATE
        blocks = list(recording)
    assert 40_000 < blocks[-1].end_ms < 76_000
    script = read(name)
    assert set(script.voices) == set(SPEAKERS)
    assert len(set(script.voices.values())) == 2
    for channel, speaker in enumerate(SPEAKERS):
        sound = np.frombuffer(b"".join(block.pcm[channel] for block in blocks), np.int16).astype(float)
        seconds = sum(np.sqrt(np.mean(part**2)) > 300 for part in np.array_split(sound, len(blocks))) / 10
        words = len(script.text(speaker).split())
        assert 1.2 < words / seconds < 6  # as many words as a person says in the time that is not silent
