"""What `tenor serve` does about a recogniser."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import soundfile

from ingest.audio.publisher import publish_recording
from ingest.audio.recording import open_recording
from ingest.sources import Source
from tenor.bus.opening import open_bus
from tenor.events import TRANSCRIPTS, Transcript
from tenor.runtime import find_inputs
from tenor.runtime.batch.inputs import recording_options
from tenor.runtime.compose import serve
from tenor.runtime.profiles import change_settings
from tenor.settings import Settings
from tests.conftest import free_port
from tests.tenor.cli.speech import WORDS, reading


@pytest.mark.slow
async def test_the_pipeline_brings_a_recogniser_where_none_answers(embedded_settings: Settings, tmp_path: Path) -> None:
    settings = change_settings(embedded_settings, speech={"address": f"localhost:{free_port()}"})
    soundfile.write(tmp_path / "call.wav", reading(5), 16_000)
    [source] = find_inputs([str(tmp_path / "call.wav")])
    assert isinstance(source, Source)
    serving = asyncio.create_task(serve(["asr"], settings, own_recognizer=True))
    try:
        async with open_bus(settings) as bus, bus.follower([TRANSCRIPTS], from_start=True) as follower:
            await publish_recording(bus, open_recording(source, recording_options(settings)))
            said = ""
            async with asyncio.timeout(120):
                while WORDS[0] not in said:
                    assert not serving.done()
                    for record in await follower.poll():
                        event = TRANSCRIPTS.decode(record.value)
                        said += event.text.lower() if isinstance(event, Transcript) and event.final else ""
    finally:
        serving.cancel()
        await asyncio.wait([serving])
