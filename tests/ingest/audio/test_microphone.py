"""The microphone, with a stand-in for the sound library; without it, the way to get it is told."""

from __future__ import annotations

import asyncio
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ingest.audio.publisher import publish_recording
from ingest.audio.recording import open_recording
from ingest.options import IngestOptions
from ingest.sources import Source
from tenor.errors import BadInput, Unavailable
from tests.ingest.audio.listener import Listener
from tests.ingest.audio.sounds import voice


class PortAudioError(Exception):
    pass


class Stream:
    """Hears one second as soon as it is started."""

    def __init__(self, **settings: Any) -> None:
        self.settings = settings

    def start(self) -> None:
        size, channels = self.settings["blocksize"], self.settings["channels"]
        sound = np.repeat(voice(1, self.settings["samplerate"])[:, None], channels, axis=1)
        for begin in range(0, len(sound), size):
            block = sound[begin : begin + size]
            self.settings["callback"](memoryview(block.tobytes()), len(block), None, "")

    def close(self) -> None:
        pass


def query(device: object, kind: str) -> dict[str, float]:
    if device == "gone":
        raise ValueError("No input device matching 'gone'")
    if device == 7:
        raise PortAudioError("Error querying device 7")
    return {"default_samplerate": 44_100.0}


@pytest.fixture(autouse=True)
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = SimpleNamespace(query_devices=query, RawInputStream=Stream, PortAudioError=PortAudioError)
    monkeypatch.setitem(sys.modules, "sounddevice", stand_in)


async def test_it_is_fed_until_stopped() -> None:
    listener = Listener()
    recording = open_recording(Source("microphone", ""), IngestOptions(roles=["agent"]))
    assert recording.call.startswith("mic-")
    task = asyncio.create_task(publish_recording(listener.bus, recording, pace=1))
    while len(listener.chunks()) < 10:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    info = listener.started.info
    assert (info.source, info.roles, info.rate) == ("microphone", ("agent",), 44_100)
    assert listener.pcm() == voice(1, 44_100).tobytes()
    assert listener.ended.reason == "stopped"


def test_two_channels_when_asked_for() -> None:
    with open_recording(Source("microphone", "USB"), IngestOptions(channels=[0, 1])) as recording:
        assert recording.roles == ("caller", "agent")


@pytest.mark.parametrize("device", ["gone", "7"])
def test_a_device_that_is_not_there(device: str) -> None:
    with pytest.raises(Unavailable, match=f"no microphone '{device}'"):
        open_recording(Source("microphone", device))


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    with pytest.raises(BadInput) as caught:
        open_recording(Source("microphone", ""))
    assert caught.value.hint == "pip install 'tenor[microphone]'"
