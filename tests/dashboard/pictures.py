"""Pictures of the pages for docs/pages: `python -m tests.dashboard.pictures [PAGE...]`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import BrowserContext, Page, ViewportSize
from sqlmodel import select

from asr.local.tts.voices import find_voice
from storage import sample
from storage.db.engine import Database
from storage.labels.labels import correct
from storage.tables import Sentence
from storage.viewer import Viewer
from tenor.web.servers import free_port
from tests.dashboard.assistant.at_work import assistant_at_work
from tests.dashboard.assistant.speaking import Speaker, voice_at_work, write_question
from tests.dashboard.conftest import PHONE, BrowserThread, House, running_house
from tests.dashboard.drifted import add_drift
from tests.dashboard.floor import FloorCall
from tests.dashboard.learned import learned_home
from tests.dashboard.scenes import floor_at_work, goes_on, over
from tests.dashboard.shoppers import shoppers_write
from tests.storage.conversations import NAMES

LEARNING = {
    "datasets": ("/datasets?dataset=apiary&version=2", ".t-facts"),
    "runs": ("/runs?runs=2&runs=3&runs=4", "[data-testid=stVegaLiteChart] svg"),
    "models": ("/models?model=apiary-1", ".t-gate"),
}
"""Pages of a home in which models have learned."""
SHOW = {"aspects": "text=What they talk about", "scorecard": ".scorecard"}
"""What a picture is about, where it is further down on its page."""
SAID = "(role:caller aspect:delivery sentiment:negative) then (role:agent sorry)"
SCREENS = (("", False, False), ("-phone", True, False), ("-dark", False, True))
"""Of each picture: the end of its name, whether it is of a phone, and whether it is dark."""
PATIENCE_MS = 300_000
"""A busy machine takes its time."""
FOLDER = Path(__file__).parents[2] / "docs" / "pages"
SMALL_LAPTOP: ViewportSize = {"width": 1366, "height": 768}


def main(names: list[str]) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    thread = BrowserThread()
    try:
        if not names or "assistant" in names:
            _assistant(thread)
        if not names or "interrupted" in names:
            _interrupted(thread)
        if not names or {*names} & {"takeover", "handed-over"}:
            _takeover(thread)
        if not names or {*names} & LEARNING.keys():
            _learning(thread, names)
        if not names or "drift" in names:
            _drift(thread)
        if names and not {*names} - {"assistant", "interrupted", "takeover", "handed-over", "drift", *LEARNING}:
            return
        with tempfile.TemporaryDirectory() as home, running_house(Path(home)) as house:
            calls = floor_at_work(house.floor)
            anna, heard = calls["anna"], over(house.floor)
            time.sleep(4)
            heard.recorded(heard.at_ms / 1000)
            _corrected(house.floor.database, anna.id, "Great, and nobody thought of telling me.")
            anna.note("Offer the refund and free delivery next time. I will approve it.", author="mia")
            sample.add(house.floor.database)
            shoppers_write(house)
            drawn = "[data-testid=stVegaLiteChart] svg"
            shots = {
                "live": ("/", "", ".tile .badge"),
                "call": (f"/call?call={anna.id}", "manager:mia", ".bubble"),
                "call-over": (f"/call?call={heard.id}", "manager:mia", ".player"),
                "my_call": ("/", "agent:anna", ".steps li"),
                "agents": ("/agents?agent=grace.linden&period=4+weeks", "", drawn),
                "everyone": ("/agents", "", drawn),
                "customers": ("/customers?customer=NG-1005", "", drawn),
                "aspects": ("/customers", "", drawn),
                "search": ("/search?words=manager&sentiment=negative", "", drawn),
                "call-search": (f"/search?find=Calls&said={quote(SAID)}", "", ".t-found"),
                "scorecard": (f"/call?call={heard.id}", "manager:mia", ".point"),
                "review": ("/review", "", drawn),
                "flows": ("/flows?call=jeans&turn=2", "", ".picture .passed"),
                "operations": ("/operations?span=8+weeks", "", drawn),
            }
            for name, (path, viewer, wait) in shots.items():
                if names and name not in names:
                    continue
                for suffix, phone, dark in SCREENS:
                    where = house.address + path + (("&" if "?" in path else "?") + f"as={viewer}" if viewer else "")
                    context = thread.run(thread.context, address=where, phone=phone, dark=dark)
                    picture = FOLDER / f"{name}{suffix}.png"
                    thread.run(
                        _shoot,
                        context=context,
                        where=where,
                        wait=wait,
                        path=picture,
                        calls=calls,
                        show=SHOW.get(name, ""),
                    )
            if not names or "report" in names:
                _report(thread, house)
    finally:
        thread.stop()


def _report(thread: BrowserThread, house: House) -> None:
    """The page that `tenor report` writes."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "report.html")
        command = (sys.executable, "-m", "tenor", "--home", str(house.settings.home), "report", "--out", str(file))
        subprocess.run(command, check=True)
        for suffix, phone, dark in SCREENS:
            context = thread.run(thread.context, address=house.address, phone=phone, dark=dark)
            picture = FOLDER / f"report{suffix}.png"
            thread.run(_shoot, context=context, where=file.as_uri(), wait="h2", path=picture, calls={})


def _learning(thread: BrowserThread, names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder, running_house(learned_home(Path(folder))) as house:
        for name, (path, wait) in LEARNING.items():
            if names and name not in names:
                continue
            for suffix, phone, dark in SCREENS:
                context = thread.run(thread.context, address=house.address, phone=phone, dark=dark)
                where, picture = house.address + path, FOLDER / f"{name}{suffix}.png"
                thread.run(_shoot, context=context, where=where, wait=wait, path=picture, calls={})


def _drift(thread: BrowserThread) -> None:
    with tempfile.TemporaryDirectory() as folder, running_house(Path(folder)) as house:
        add_drift(house.floor.database, house.settings)
        for suffix, phone, dark in SCREENS:
            context = thread.run(thread.context, address=house.address, phone=phone, dark=dark)
            where, picture = house.address + "/drift", FOLDER / f"drift{suffix}.png"
            wait = "[data-testid=stVegaLiteChart] svg"
            thread.run(_shoot, context=context, where=where, wait=wait, path=picture, calls={})


@contextmanager
def _speaking_shop(thread: BrowserThread) -> Iterator[tuple[House, Speaker]]:
    """The assistant by voice, and a shopper's browser whose microphone asks a question."""
    voice, port = find_voice(), free_port("127.0.0.1", 0)
    assert voice is not None, "these pictures need a voice: make install"
    with (
        tempfile.TemporaryDirectory() as home,
        running_house(Path(home), gateway_port=port) as house,
        assistant_at_work(house, Path(home)),
        voice_at_work(house, port),
    ):
        said = Path(home, "question.wav")
        write_question(voice, said)
        speaker = thread.run(lambda: Speaker(thread, said))
        try:
            yield house, speaker
        finally:
            thread.run(speaker.browser.close)


def _assistant(thread: BrowserThread) -> None:
    """The shoppers' page, in the middle of a conversation, partly spoken."""
    with _speaking_shop(thread) as (house, speaker):
        for suffix, phone, dark in SCREENS:
            page = thread.run(speaker.open, house=house, phone=phone, dark=dark)
            thread.run(_talk, page=page, path=FOLDER / f"assistant{suffix}.png")


def _interrupted(thread: BrowserThread) -> None:
    """The shopper speaks while the assistant does."""
    with _speaking_shop(thread) as (house, speaker):
        for suffix, size in (("", SMALL_LAPTOP), ("-phone", PHONE)):
            page = thread.run(speaker.open, house=house, phone=size is PHONE)
            thread.run(_interrupt, page=page, size=size, path=FOLDER / f"interrupted{suffix}.png")


def _takeover(thread: BrowserThread) -> None:
    """A conversation that was taken from the assistant: the shopper, who speaks, and the agent, who writes."""
    with _speaking_shop(thread) as (house, speaker):
        home = str(house.settings.home)
        command = (sys.executable, "-m", "tenor", "--home", home, "--set=bus.partitions=4", "serve", "language")
        language = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            shopper = thread.run(speaker.open, house=house)
            context = thread.run(thread.context, address=house.address)
            thread.run(_hand_over, shopper=shopper, context=context, where=house.address)
            for suffix, phone, dark in SCREENS:
                context = thread.run(thread.context, address=house.address, phone=phone, dark=dark)
                where, picture = f"{house.address}/?as=agent:anna", FOLDER / f"takeover{suffix}.png"
                size = PHONE if phone else SMALL_LAPTOP
                thread.run(_shoot, context=context, where=where, wait=".composer", path=picture, calls={}, size=size)
        finally:
            language.terminate()
            language.wait(20)


def _hand_over(shopper: Page, context: BrowserContext, where: str) -> None:
    agent = context.new_page()
    agent.goto(f"{where}/?as=agent:anna")
    agent.get_by_text("No call right now").wait_for()
    shopper.get_by_role("button", name="Microphone").click()
    shopper.locator(".forecast").wait_for()
    shopper.get_by_label("Your message").fill("you never understand me, I want to talk to a person")
    shopper.get_by_role("button", name="Submit").click()
    agent.get_by_role("button", name="Take the call").click()
    agent.get_by_label("Write to the shopper").fill("Hello, this is Anna. What would you like to know?")
    agent.get_by_role("button", name="Send").click()
    shopper.locator("li.agent").wait_for()
    _ask_again(shopper)
    agent.locator(".lines p:last-child:not(.interim)").filter(has_text="Los Angeles").wait_for()
    agent.close()
    for suffix, size in (("", SMALL_LAPTOP), ("-phone", PHONE)):
        shopper.set_viewport_size(size)
        shopper.locator("#log").evaluate("(log) => log.scrollTop = log.scrollHeight")
        shopper.wait_for_timeout(1000)
        shopper.screenshot(path=FOLDER / f"handed-over{suffix}.png")


def _ask_again(page: Page) -> None:
    """The microphone plays its recording whenever it is switched on."""
    microphone = page.get_by_role("button", name="Microphone")
    if microphone.get_attribute("aria-pressed") == "true":
        microphone.click()
        page.locator('#microphone[aria-pressed="false"]').wait_for()
    microphone.click()


def _interrupt(page: Page, size: ViewportSize, path: Path) -> None:
    page.set_viewport_size(size)
    page.locator(".switch").click()
    page.get_by_role("button", name="Microphone").click()
    page.locator(".forecast").wait_for()
    page.get_by_text("Speaking. You can interrupt.").wait_for()
    page.wait_for_timeout(1500)
    _ask_again(page)
    page.get_by_text("Listening. Speak, or type your message.").wait_for()
    page.locator("li.caller").filter(has_text="rain").nth(1).wait_for()
    page.locator("#log").evaluate("(log) => log.scrollTop = log.scrollHeight")
    page.wait_for_timeout(300)
    page.screenshot(path=path)
    page.close()


def _talk(page: Page, path: Path) -> None:
    page.locator(".switch").click()
    page.get_by_role("button", name="Microphone").click()
    page.locator(".forecast").wait_for()
    page.get_by_label("Your message").fill("how much is a laptop")
    page.get_by_role("button", name="Submit").click()
    page.locator(".cards").nth(1).wait_for()
    page.locator("#log").evaluate("(log) => log.scrollTop = 60")
    page.get_by_text("Speaking. You can interrupt.").wait_for()
    page.wait_for_timeout(800)
    page.screenshot(path=path)
    page.close()


def _shoot(
    context: BrowserContext,
    where: str,
    wait: str,
    path: Path,
    calls: dict[str, FloorCall],
    show: str = "",
    size: ViewportSize | None = None,
) -> None:
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    if size is not None:
        page.set_viewport_size(size)
    page.goto(where)
    page.locator(wait).first.wait_for()
    page.wait_for_timeout(1500)
    if calls:
        goes_on(calls)
    if wait == ".player":
        page.locator(".bubble").nth(3).click()
        page.locator(".row.playing").wait_for()
        page.get_by_role("button", name="Pause").click()
    page.wait_for_timeout(3500)
    if show:
        page.locator(show).first.evaluate("(element) => element.scrollIntoView({block: 'start'})")
        page.wait_for_timeout(500)
    page.screenshot(path=path)
    page.close()


def _corrected(database: Database, call: str, text: str) -> None:
    """The analyst heard the irony, the model did not."""
    with database.session() as session:
        said = session.exec(select(Sentence).where(Sentence.call == call, Sentence.text == text)).one()
        correct(session, Viewer("ada", "analyst"), said.id, "sentiment", "negative", names=NAMES)
        session.commit()


if __name__ == "__main__":
    main(sys.argv[1:])
