"""What a spoken conversation on the page needs beside the assistant's stage, and a browser with a fake microphone."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

import numpy as np
import soundfile
from playwright.sync_api import Page, expect

from asr.local.tts.voices import Voice
from asr.worker import AsrWorker
from ingest.gateway import Gateway
from storage.recorder.worker import RecordingWorker
from tenor.runtime.profiles import change_settings
from tenor.runtime.riva import recognizer
from tests.dashboard.conftest import LAPTOP, PHONE, BrowserThread, House

QUESTION = "Will it rain next week in Los Angeles?"
PATIENCE_MS = 60_000


def write_question(voice: Voice, path: Path) -> None:
    """Half a second of silence, the question, and more silence."""
    speech = voice.synthesize(QUESTION, "en-US").astype(np.float32) / 32768
    pause = np.zeros(voice.rate // 2, np.float32)
    soundfile.write(path, np.concatenate([pause, speech, np.tile(pause, 40)]), voice.rate, "PCM_16")


@contextmanager
def voice_at_work(house: House, port: int) -> Iterator[None]:
    """Gateway, recogniser and recordings, with the real speech models."""
    floor, stack = house.floor, AsyncExitStack()
    settings = change_settings(house.settings, gateway={"port": port, "audiosocket_port": 0})

    async def start() -> None:
        ours = await stack.enter_async_context(recognizer(settings))
        stages = (Gateway(floor._bus, ours), AsrWorker(floor._bus, ours), RecordingWorker(floor._bus, ours))
        tasks = [asyncio.create_task(stage.run()) for stage in stages]

        async def stop() -> None:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        stack.push_async_callback(stop)

    floor._run(start())
    try:
        yield
    finally:
        floor._run(stack.aclose())


class Speaker:
    """A browser whose microphone plays the recording, from its beginning, whenever it is switched on."""

    def __init__(self, thread: BrowserThread, recording: Path) -> None:
        self.complaints: list[str] = []
        self.browser = thread._playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("chromium-browser"),
            args=[
                "--no-sandbox", "--autoplay-policy=no-user-gesture-required", "--use-fake-ui-for-media-stream",
                "--use-fake-device-for-media-stream", f"--use-file-for-fake-audio-capture={recording}%noloop",
            ],
        )  # fmt: skip

    def open(self, house: House, *, phone: bool = False, dark: bool = False) -> Page:
        made = self.browser.new_context(
            viewport=PHONE if phone else LAPTOP, color_scheme="dark" if dark else "light", has_touch=phone
        )
        made.set_default_timeout(PATIENCE_MS)
        page = made.new_page()
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        page.goto(house.address + "/assistant")
        expect(page.get_by_role("log")).to_contain_text("How can I help you?")
        return page
