"""A call with a card number, a telephone number and a name in it, through everything; and nothing of them is left."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import numpy as np
import pytest
import soundfile

from examples.make_calls import CALLS as SAMPLES
from ingest.audio.publisher import publish_recording
from ingest.audio.recording import open_recording
from ingest.options import IngestOptions
from ingest.sources import expand
from storage.recorder.worker import RecordingWorker
from storage.writer.worker import StorageWorker
from tenor import telemetry
from tenor.bus import Bus
from tenor.events import CALLS, SENTENCES, TRANSCRIPTS, CallState, Transcript
from tenor.runtime import pipeline, running
from tenor.settings import Settings, TelemetrySettings
from tests.watching import events

CARD, PHONE = "6011000990139424", "2065550193"
DIGITS = "zero one two three four five six seven eight nine"
KINDS = ["card", "account", "phone", "email", "birth_date", "person", "address", "number"]


def spellings(digits: str) -> set[str]:
    """Eight digits and more as such, for fewer may stand in a time of the day; groups of four as people and recognisers
    write them: 6 0 1 1, 6-0-1-1, six oh one one."""
    found = {digits[at : at + 8] for at in range(len(digits) - 7)}
    for at in range(len(digits) - 3):
        group = digits[at : at + 4]
        found |= {" ".join(group), "-".join(group), ", ".join(group), f" {group} ", f" {group}.", f" {group},"}
        for zero in ("zero", "oh"):
            words = [zero if digit == "0" else DIGITS.split()[int(digit)] for digit in group]
            found |= {" ".join(words), ", ".join(words), "".join(words)}
    return found


@pytest.mark.slow
async def test_nothing_that_was_taken_out_can_be_found_anywhere(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    telemetry.configure(TelemetrySettings(log_level="debug"))
    settings = Settings.model_validate({"home": home, "bus": {"partitions": 2}, "speech": {"redact_kinds": KINDS}})
    [source] = expand([str(SAMPLES / "lost-card.ogg")])
    async with AsyncExitStack() as stack:
        bus = await stack.enter_async_context(pipeline(settings, ("asr", "language"), own_recognizer=True))
        for stage in (StorageWorker(bus, settings), RecordingWorker(bus, settings)):
            await stack.enter_async_context(running(stage))
        recording = open_recording(source, IngestOptions(redact="audio"))
        await publish_recording(bus, recording)
        kept = home / "recordings"
        async with asyncio.timeout(150):
            while not list(kept.glob("*.flac")) or "analysed" not in await states(bus, recording.call):
                await asyncio.sleep(0.2)
        finals = [
            one for one in await events(bus, TRANSCRIPTS, recording.call) if isinstance(one, Transcript) and one.final
        ]
        sentences = await events(bus, SENTENCES, recording.call)
        await asyncio.sleep(1)  # the writer's last batch
        searched = {path: path.read_bytes().lower() for path in home.rglob("*") if path.is_file()}
    printed = "".join(capfd.readouterr()).lower()

    said = " ".join(final.text for final in finals)
    assert {"[card]", "[phone]", "[person]"} <= {word.strip(".,") for word in said.split()}
    assert sentences
    in_files = b" ".join(searched.values())
    for name in ("bus.db", "tenor.db"):  # what may be kept is found there, so that searching means something
        stored = b" ".join(content for path, content in searched.items() if path.name.startswith(name))
        assert b"worried" in stored
        assert b"[card]" in stored
    for secret in spellings(CARD) | spellings(PHONE) | {"emma"}:
        assert secret.encode() not in in_files, secret
        assert secret not in printed, secret
        assert not any(secret in path.name.lower() for path in searched)

    [file] = kept.glob("*.flac")
    sound, rate = soundfile.read(file, dtype="int16", always_2d=True)
    spans = [(final.channel, one) for final in finals for one in final.redacted]
    assert {one.kind for _, one in spans} >= {"card", "phone", "person"}
    for channel, one in spans:
        assert not sound[one.start_ms * rate // 1000 : one.end_ms * rate // 1000, channel].any()
    assert np.abs(sound.astype(int)).max(axis=0).min() > 1000  # the rest can be heard


async def states(bus: Bus, call: str) -> set[str]:
    return {event.state for event in await events(bus, CALLS, call) if isinstance(event, CallState)}
