"""The voice detector says when somebody speaks, and only with the network it was measured with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from asr.local.stt.engines.weights import WrongWeights
from asr.local.stt.vad import FRAME, MODEL, VadModel, VoiceActivityDetector
from examples.make_calls import CALLS, SPEAKERS


def test_speakers_take_turns_in_a_sample_call() -> None:
    call, rate = soundfile.read(CALLS / "opening-hours.ogg", dtype="float32")
    assert rate == 16_000
    model = VadModel()
    shares = {}
    for channel, speaker in enumerate(SPEAKERS):
        voice = VoiceActivityDetector(model)
        samples = np.ascontiguousarray(call[:, channel])
        frames = [samples[at : at + FRAME] for at in range(0, len(samples) - FRAME + 1, FRAME)]
        shares[speaker] = np.mean([voice.probability(frame) > 0.5 for frame in frames])
    assert shares == {"caller": pytest.approx(0.285, abs=0.005), "agent": pytest.approx(0.49, abs=0.005)}


def test_another_network_is_refused(tmp_path: Path) -> None:
    other = tmp_path / MODEL.name
    other.write_bytes(MODEL.read_bytes()[:-1] + b"!")
    with pytest.raises(WrongWeights, match="has SHA-256"):
        VadModel(other)
