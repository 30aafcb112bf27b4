"""Ten hours pass through in the memory of a minute."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from tests.ingest.audio.sounds import voice

HOURS = 10
RATE = 8_000

FEED = """
import asyncio, json, resource, sys
from ingest.audio.publisher import publish_recording
from ingest.audio.recording import open_recording
from ingest.sources import Source

class Counter:
    events = 0
    samples = 0
    async def publish(self, topic, event):
        self.events += 1
    async def publish_many(self, topic, events):
        for event in events:
            self.events += 1
            self.samples += len(event.pcm) // 2

def peak_kb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

after_a_minute = 0
def progress(recording, heard_ms):
    global after_a_minute
    if heard_ms == 60_000:
        after_a_minute = peak_kb()

bus = Counter()
asyncio.run(publish_recording(bus, open_recording(Source("file", sys.argv[1])), progress=progress))
print(json.dumps({"events": bus.events, "samples": bus.samples, "grown_kb": peak_kb() - after_a_minute}))
"""


def ten_hours(path: Path) -> None:
    """A minute of speech, encoded once and written six hundred times."""
    with av.open(str(path), "w", format="matroska") as container:
        stream: Any = container.add_stream("flac", rate=RATE, layout="mono")
        minute = voice(60, RATE)
        size = 4000  # divides a minute, so that every frame is as long as the next
        stream.codec_context.options = {"frame_size": str(size)}
        packets = []
        for begin in range(0, len(minute), size):
            frame = av.AudioFrame.from_ndarray(minute[None, begin : begin + size], "s16", "mono")
            frame.sample_rate, frame.pts = RATE, begin
            packets += stream.encode(frame)
        packets += stream.encode(None)
        written = 0
        for _ in range(HOURS * 60):
            for original in packets:
                packet = av.Packet(bytes(original))
                packet.stream, packet.time_base = stream, original.time_base
                packet.pts = packet.dts = written + original.pts
                packet.duration = original.duration
                container.mux(packet)
            written += len(minute)


@pytest.mark.slow
def test_ten_hours_in_constant_memory(tmp_path: Path) -> None:
    ten_hours(tmp_path / "day.mka")
    result = subprocess.run(
        [sys.executable, "-c", FEED, str(tmp_path / "day.mka")], check=True, capture_output=True, text=True
    )
    told = json.loads(result.stdout.splitlines()[-1])
    assert told["samples"] == HOURS * 3600 * RATE
    assert told["events"] == np.ceil(HOURS * 36_000) + 2
    assert told["grown_kb"] < 20_000  # the audio itself is 576 MB
