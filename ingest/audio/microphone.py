"""The microphone of this machine, as a source of audio (extra `microphone`)."""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from ingest.audio.types import AudioFormat, Samples, channel_names
from ingest.warnings import Warnings
from tenor.errors import BadInput, Unavailable

HELD_S = 60
"""So much may wait to be read before audio is lost."""


class Microphone:
    """Records from opening to closing."""

    def __init__(self, device: str, warnings: Warnings, channels: int = 1, chunk_ms: int = 100) -> None:
        """`device` is a number or part of a name, as `python -m sounddevice` lists them; empty: the default."""
        sounddevice = _library()
        wanted = int(device) if device.isdigit() else device or None
        try:
            found = sounddevice.query_devices(wanted, "input")
            rate = int(found["default_samplerate"])
            self._waiting: queue.Queue[bytes] = queue.Queue(HELD_S * 1000 // chunk_ms)
            self._closed = threading.Event()
            self._warnings = warnings
            self._stream = sounddevice.RawInputStream(
                samplerate=rate,
                blocksize=rate * chunk_ms // 1000,
                device=wanted,
                channels=channels,
                dtype="int16",
                callback=self._heard,
            )
            self._stream.start()
        except (ValueError, sounddevice.PortAudioError) as error:
            name = f"microphone {device!r}" if device else "microphone"
            raise Unavailable(
                f"no {name} that can be used: {error}", hint="python -m sounddevice lists what there is"
            ) from None
        self.packed_bytes = sys.maxsize  # nothing is packed
        self.format = AudioFormat(codec="pcm_s16le", rate=rate, channels=channel_names(channels), lossy=False)

    def blocks(self) -> Iterator[Samples]:
        while not self._closed.is_set():
            try:
                data = self._waiting.get(timeout=0.2)
            except queue.Empty:
                continue
            yield np.frombuffer(data, dtype=np.int16).reshape(-1, len(self.format.channels))

    def interrupt(self) -> None:
        self._closed.set()

    def close(self) -> None:
        self._closed.set()
        self._stream.close()

    def _heard(self, data: Any, frames: int, time: Any, status: Any) -> None:
        """Called by PortAudio on its own thread, which must not wait."""
        if status:
            self._warnings.add("the microphone lost some audio")
        try:
            self._waiting.put_nowait(bytes(data))
        except queue.Full:
            self._warnings.add("the microphone lost some audio")


def _library() -> Any:
    try:
        import sounddevice
    except ImportError:
        raise BadInput(
            "the microphone needs a package that is not installed", hint="pip install 'tenor[microphone]'"
        ) from None
    except OSError:
        raise Unavailable(
            "the microphone needs the PortAudio library", hint="on Debian: apt-get install libportaudio2"
        ) from None
    return sounddevice
