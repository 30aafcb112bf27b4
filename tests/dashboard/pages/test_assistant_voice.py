"""The shoppers' page aloud, in a real browser: Chromium's fake microphone speaks a recording to the real pipeline.

The recording is made by the voice that comes with Tenor, and recognised by the engine that does, so these tests are
skipped where no voice is installed.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from playwright.sync_api import Page, expect
from sqlmodel import Session, col, select

from asr.local.tts.voices import find_voice
from asr.worker import AsrWorker
from ingest.gateway import Gateway
from storage.recorder.worker import RecordingWorker, open_recording
from storage.tables import Call
from tenor.net import free_port
from tenor.runtime.profiles import change_settings
from tenor.runtime.riva import recognizer
from tests.dashboard.assistant.at_work import assistant_at_work
from tests.dashboard.conftest import LAPTOP, PHONE, BrowserThread, House, running_house

pytestmark = [pytest.mark.browser, pytest.mark.slow]

QUESTION = "Will it rain next week in Los Angeles?"
PATIENCE_MS = 60_000
RATE = 16_000


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Half a second of silence, the question, and more silence."""
    voice = find_voice()
    if voice is None:
        pytest.skip("no voice is installed")
    speech = voice.synthesize(QUESTION, "en-US").astype(np.float32) / 32768
    path = tmp_path_factory.mktemp("said") / "question.wav"
    pause = np.zeros(voice.rate // 2, np.float32)
    soundfile.write(path, np.concatenate([pause, speech, np.tile(pause, 40)]), voice.rate, "PCM_16")
    return path


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    home = tmp_path_factory.mktemp("shop")
    port = free_port("127.0.0.1", 0)
    with running_house(home, gateway_port=port) as house, assistant_at_work(house, home), _voice(house, port):
        yield house


@contextmanager
def _voice(house: House, port: int) -> Iterator[None]:
    """The stages that a spoken conversation needs beside the assistant's, with real speech models."""
    floor = house.floor
    settings = change_settings(house.settings, gateway={"port": port, "audiosocket_port": 0})
    stack = AsyncExitStack()

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

    def open(self, house: House, *, phone: bool = False, dark: bool = False, **context: Any) -> Page:
        made = self.browser.new_context(
            viewport=PHONE if phone else LAPTOP, color_scheme="dark" if dark else "light", has_touch=phone, **context
        )
        made.set_default_timeout(PATIENCE_MS)
        page = made.new_page()
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        page.goto(house.address + "/assistant")
        expect(page.get_by_role("log")).to_contain_text("How can I help you?")
        return page


@pytest.fixture
def speaker(browser_thread: BrowserThread, recording: Path) -> Iterator[Speaker]:
    made = browser_thread.run(lambda: Speaker(browser_thread, recording))
    yield made
    browser_thread.run(made.browser.close)
    assert not made.complaints, made.complaints


def say(page: Page, text: str) -> None:
    page.get_by_label("Your message").fill(text)
    page.get_by_role("button", name="Submit").click()


def test_a_shopper_speaks_is_answered_and_interrupts(shop: House, speaker: Speaker) -> None:
    page = speaker.open(shop)
    microphone, speech = page.get_by_role("button", name="Microphone"), page.get_by_label("Unmute System Speech")
    expect(speech).not_to_be_checked()
    expect(microphone).to_have_attribute("aria-pressed", "false")
    page.locator(".switch").click()
    expect(speech).to_be_checked()
    microphone.click()
    expect(microphone).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("status")).to_contain_text("Listening")
    expect(page.locator("li.interim")).to_contain_text("rain", ignore_case=True, timeout=PATIENCE_MS)
    expect(page.locator("li.caller:not(.interim)")).to_contain_text("Los Angeles", timeout=PATIENCE_MS)
    expect(page.locator(".forecast")).to_contain_text("Los Angeles, CA", timeout=PATIENCE_MS)
    expect(page.get_by_role("status")).to_contain_text("Speaking", timeout=PATIENCE_MS)
    microphone.click()  # off, and on again: the microphone asks once more, over the reply
    expect(page.get_by_role("status")).to_contain_text("Speaking")
    microphone.click()
    expect(page.get_by_role("status")).to_contain_text("Speaking. You can interrupt.")
    expect(page.get_by_role("status")).to_contain_text("Listening", timeout=PATIENCE_MS)  # it fell silent
    expect(page.locator("li.caller:not(.interim)")).to_have_count(2, timeout=PATIENCE_MS)
    expect(page.locator(".forecast")).to_have_count(2, timeout=PATIENCE_MS)
    microphone.click()
    say(page, "and in boston")
    expect(page.locator(".forecast").nth(2)).to_contain_text("Boston, MA", timeout=PATIENCE_MS)
    expect(page.get_by_role("status")).to_contain_text("Speaking…", timeout=PATIENCE_MS)
    page.get_by_role("button", name="New conversation").click()
    expect(page.locator("li.caller")).to_have_count(0)
    expect(microphone).to_have_attribute("aria-pressed", "false")

    def kept(session: Session) -> bool:
        call = session.exec(select(Call).where(col(Call.source) == "web", col(Call.recorded))).first()
        return call is not None and bool(call.recording)

    shop.floor.stored(kept)
    with shop.floor.database.session() as session:
        call = session.exec(select(Call).where(col(Call.source) == "web", col(Call.recorded))).one()
        assert call.roles == ["caller", "assistant"]
    file = open_recording(shop.floor.database, shop.settings, call.id)
    assert file is not None
    with file:
        samples, rate = soundfile.read(file)
    assert rate == RATE
    loud = (np.abs(samples) > 0.02).sum(axis=0) / rate
    assert loud[0] > 0.5, "the shopper's side"
    assert loud[1] > 0.2, "the assistant's side, which was interrupted"
