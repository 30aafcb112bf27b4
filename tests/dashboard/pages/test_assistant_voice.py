"""The shoppers' page aloud, in a real browser: Chromium's fake microphone speaks a recording to the real pipeline.

The recording is made by the voice that comes with Tenor, and recognised by the engine that does, so these tests are
skipped where no voice is installed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile
from playwright.sync_api import Page, expect
from sqlmodel import Session, col, select

from asr.local.tts.voices import find_voice
from storage.recorder.worker import open_recording
from storage.tables import Call
from tenor.web.servers import free_port
from tests.dashboard.assistant.at_work import assistant_at_work
from tests.dashboard.assistant.speaking import PATIENCE_MS, Speaker, voice_at_work, write_question
from tests.dashboard.conftest import BrowserThread, House, Visit, running_house

pytestmark = [pytest.mark.browser, pytest.mark.slow]

RATE = 16_000
CLASSES = "lines => lines.map(line => line.className)"
ORDER = ["assistant", "caller", "assistant"]
"""The greeting, the question, the answer."""
REFUSE = "name => { navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('no', name)) }"


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    voice = find_voice()
    if voice is None:
        pytest.skip("no voice is installed")
    path = tmp_path_factory.mktemp("said") / "question.wav"
    write_question(voice, path)
    return path


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    home = tmp_path_factory.mktemp("shop")
    port = free_port("127.0.0.1", 0)
    with running_house(home, gateway_port=port) as house, assistant_at_work(house, home), voice_at_work(house, port):
        yield house


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
    expect(page.locator("li.interim")).to_have_count(0)
    assert [line.split(" ")[0] for line in page.locator("#log > li").evaluate_all(CLASSES)] == ORDER
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


def test_a_person_reads_what_is_spoken_and_gives_it_back(shop: House, speaker: Speaker, visit: Visit) -> None:
    page = speaker.open(shop)
    microphone = page.get_by_role("button", name="Microphone")
    microphone.click()
    expect(page.locator(".forecast")).to_contain_text("Los Angeles", timeout=PATIENCE_MS)
    say(page, "I want to talk to a person")
    call = page.evaluate("JSON.parse(sessionStorage.getItem('assistant')).session")
    agent = visit(shop, "/", looks_as="agent:anna")
    agent.locator(f'.handover[data-call="{call}"]').get_by_role("button", name="Take the call").click()
    expect(page.get_by_role("status")).to_have_text("You are talking to a person.")
    agent.get_by_role("button", name="Give back to the assistant").click()
    expect(page.get_by_role("log")).to_contain_text("The person has left.")
    expect(microphone).to_have_attribute("aria-pressed", "true")  # neither was a silence of the shopper's
    say(page, "a person please")
    agent.locator(f'.handover[data-call="{call}"]').get_by_role("button", name="Take the call").click()
    expect(agent.get_by_text("You have this conversation")).to_be_visible()
    lines = agent.locator(".lines p")
    before = lines.filter(has_text="Los Angeles").count()
    microphone.click()  # off, and on again: the microphone asks once more
    expect(microphone).to_have_attribute("aria-pressed", "false")
    microphone.click()
    expect(lines.filter(has_text="Los Angeles")).to_have_count(before + 1, timeout=PATIENCE_MS)
    agent.get_by_label("Write to the shopper").fill("Let me look.")
    agent.get_by_role("button", name="Send").click()
    expect(page.locator("li.agent .bubble")).to_have_text("Let me look.")
    expect(page.locator(".forecast")).to_have_count(1)  # the assistant is silent
    replies = page.locator("li.assistant").count()
    agent.get_by_role("button", name="Give back to the assistant").click()
    expect(page.locator("li.assistant")).to_have_count(replies + 1)
    microphone.click()
    expect(microphone).to_have_attribute("aria-pressed", "false")
    microphone.click()
    expect(page.locator(".forecast")).to_have_count(2, timeout=PATIENCE_MS)


def test_what_is_missing_is_told_and_typing_goes_on(shop: House, speaker: Speaker) -> None:
    page = speaker.open(shop)
    microphone = page.get_by_role("button", name="Microphone")
    page.evaluate(REFUSE, "NotAllowedError")
    microphone.click()
    expect(page.get_by_role("alert")).to_contain_text("The microphone is blocked.")
    expect(microphone).to_have_attribute("aria-pressed", "false")
    page.evaluate(REFUSE, "NotFoundError")
    microphone.click()
    expect(page.get_by_role("alert")).to_contain_text("No microphone was found.")
    page.evaluate("() => { Object.defineProperty(navigator, 'mediaDevices', { value: undefined }) }")
    microphone.click()
    expect(page.get_by_role("alert")).to_contain_text("This browser cannot use a microphone here.")
    say(page, "how much are jeans")
    expect(page.locator(".card h2").first).to_be_visible()
    expect(page.get_by_role("alert")).to_be_hidden()


def test_a_gateway_that_is_away_is_told_and_typing_goes_on(shop: House, speaker: Speaker) -> None:
    page = speaker.open(shop)
    page.route_web_socket("**/browser", lambda socket: socket.close(code=1011))
    page.locator(".switch").click()
    expect(page.get_by_role("alert")).to_contain_text("The voice service cannot be reached.", timeout=PATIENCE_MS)
    expect(page.get_by_label("Unmute System Speech")).not_to_be_checked()
    say(page, "how much are jeans")
    expect(page.locator(".card h2").first).to_be_visible()


def test_it_works_with_the_keyboard_on_a_phone_and_mutes_at_once(shop: House, speaker: Speaker) -> None:
    page = speaker.open(shop, phone=True, dark=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    speech = page.get_by_label("Unmute System Speech")
    speech.focus()
    page.keyboard.press("Space")
    expect(speech).to_be_checked()
    expect(speech).to_have_attribute("aria-busy", "false", timeout=PATIENCE_MS)
    say(page, "will it rain in boston next week")
    expect(page.get_by_role("status")).to_contain_text("Speaking", timeout=PATIENCE_MS)
    speech.focus()
    page.keyboard.press("Space")
    expect(page.get_by_role("status")).to_have_text("System replied. Waiting for user input.")
    microphone = page.get_by_role("button", name="Microphone")
    microphone.focus()
    page.keyboard.press("Enter")
    expect(microphone).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".forecast").nth(1)).to_contain_text("Los Angeles", timeout=PATIENCE_MS)
    expect(page.get_by_role("status")).to_contain_text("Listening")  # it is muted: nothing is spoken
    expect(page.get_by_role("button", name="Submit")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(microphone).to_have_attribute("aria-pressed", "false")
