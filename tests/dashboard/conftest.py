"""What tests of pages share: dashboards that run as a process of their own, a floor with calls on it, and a browser.

    @pytest.mark.browser
    def test_something(house: House, visit: Visit) -> None:
        call = house.floor.call("anna")
        page = visit(house, "/")                        # also: looks_as="agent:anna", phone=True, dark=True
        expect(page.get_by_text("anna")).to_be_visible()

Playwright's own event loop does not suit the tests that have one, so browser tests run in a thread beside them.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, ViewportSize, expect, sync_playwright

from dashboard.auth.accounts import Accounts
from tenor.settings import BusSettings, DashboardSettings, Settings, StorageSettings
from tests.dashboard.floor import Floor

PATIENCE_MS = 20_000
PHONE: ViewportSize = {"width": 390, "height": 844}
LAPTOP: ViewportSize = {"width": 1440, "height": 900}
PASSWORD = "correct horse battery"
PEOPLE = {"anna": "agent", "ben": "agent", "zoe": "agent", "mia": "manager", "ada": "analyst", "root": "administrator"}


@dataclass(frozen=True)
class House:
    """A dashboard that runs, and the floor it shows."""

    address: str
    floor: Floor
    process: subprocess.Popen[str]

    @property
    def settings(self) -> Settings:
        return self.floor.settings


class Visit(Protocol):
    def __call__(
        self,
        house: House,
        path: str = "/",
        *,
        looks_as: str = "",
        account: str = "",
        phone: bool = False,
        dark: bool = False,
        zone: str = "",
    ) -> Page:
        """A page in a browser of its own; what it complains of fails the test."""
        ...


@contextmanager
def running_house(
    home: Path,
    sign_in: str = "none",
    *,
    port: int = 0,
    database: str = "",
    model: str = "",
    origins: str = "[]",
    gateway_port: int = 0,
    **dashboard: str,
) -> Iterator[House]:
    """`database`: the address of one that is not in `home`; `model`: the folder of a language model; `origins`: web
    sites that may embed the assistant; `gateway_port`: of the gateway that gives the assistant's page its voice."""
    given, kept = DashboardSettings(sign_in=sign_in), StorageSettings(url=database)
    settings = Settings(home=home, bus=BusSettings(partitions=4), dashboard=given, storage=kept)
    flags = [f"--set=dashboard.{name}={value}" for name, value in {"sign_in": sign_in, **dashboard}.items()]
    flags += [f"--set=storage.url={database}"] if database else []
    flags += [f"--set=language.model={model}"] if model else []
    flags += [f"--set=assistant.origins={origins}", f"--set=gateway.port={gateway_port}"]
    command = [sys.executable, "-m", "tenor", "--home", str(home), "--set=bus.partitions=4", *flags]
    command += ["dashboard", "--port", str(port)]
    with Floor(settings) as floor:
        process = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"}, cwd=home
        )
        said: list[str] = []
        try:
            yield House(_address(process, said), floor, process)
        finally:
            process.terminate()
            process.wait(20)
        assert not [line for line in said if "Traceback" in line], "".join(said)


def _address(process: subprocess.Popen[str], said: list[str]) -> str:
    """What it says once it listens; what it says otherwise is the reason why it does not."""
    errors = process.stderr
    assert errors is not None
    for line in errors:
        said.append(line)
        if found := re.search(r"the dashboard is on (http://\S+)", line):
            threading.Thread(target=said.extend, args=[errors], daemon=True).start()
            return found[1]
    raise AssertionError("the dashboard did not start: " + "".join(said))


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Nobody signs in: the viewer is an administrator, or whoever `looks_as` says."""
    with running_house(tmp_path_factory.mktemp("house")) as running:
        yield running


@pytest.fixture(scope="session")
def guarded_house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """With accounts: PEOPLE, all with PASSWORD."""
    with running_house(tmp_path_factory.mktemp("guarded"), "local") as running:
        accounts = Accounts(running.floor.database)
        for name, role in PEOPLE.items():
            accounts.add(name, role, PASSWORD)
        yield running


class BrowserThread:
    """The one thread that Playwright lives in."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "browser")
        self._contexts: dict[tuple[str, str, bool, bool, str], BrowserContext] = {}
        self.browser: Browser = self.run(self._start)

    def context(
        self, address: str, account: str = "", phone: bool = False, dark: bool = False, zone: str = ""
    ) -> BrowserContext:
        """A person's browser. Tests share it as tabs of one do, with what it has fetched before."""
        key = (address, account, phone, dark, zone)
        if key not in self._contexts:
            self._contexts[key] = self.browser.new_context(
                viewport=PHONE if phone else LAPTOP,
                color_scheme="dark" if dark else "light",
                has_touch=phone,
                timezone_id=zone or None,
            )
            self._contexts[key].set_default_timeout(PATIENCE_MS)
        return self._contexts[key]

    def run(self, work: Callable[..., Any], **arguments: Any) -> Any:
        return self._thread.submit(work, **arguments).result()

    def stop(self) -> None:
        self.run(self._stop)
        self._thread.shutdown()

    def _start(self) -> Browser:
        chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        assert chromium, "these tests need a browser: apt install chromium"
        self._playwright = sync_playwright().start()
        expect.set_options(timeout=PATIENCE_MS)
        flags = ["--no-sandbox", "--autoplay-policy=no-user-gesture-required"]
        return self._playwright.chromium.launch(executable_path=chromium, args=flags)

    def _stop(self) -> None:
        self.browser.close()
        self._playwright.stop()


@pytest.fixture(scope="session")
def browser_thread() -> Iterator[BrowserThread]:
    thread = BrowserThread()
    yield thread
    thread.stop()


@pytest.fixture
def visit(browser_thread: BrowserThread) -> Iterator[Visit]:
    opened: list[Page] = []
    complaints: list[str] = []

    def visiting(
        house: House,
        path: str = "/",
        *,
        looks_as: str = "",
        account: str = "",
        phone: bool = False,
        dark: bool = False,
        zone: str = "",
    ) -> Page:
        page = browser_thread.context(house.address, account, phone, dark, zone).new_page()
        opened.append(page)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(f"{said.text} {said.location}") if _matters(said) else None)
        if looks_as:
            path += ("&" if "?" in path else "?") + f"as={looks_as}"
        page.goto(house.address + path)
        if account and "/sign-in" in page.url:
            page.get_by_label("Account").fill(account)
            page.get_by_label("Password").fill(PASSWORD)
            page.get_by_role("button", name="Sign in").click()
        return page

    yield visiting
    for page in opened:
        browser_thread.run(page.close)
    assert not complaints, complaints


def _matters(said: ConsoleMessage) -> bool:
    """Streamlit looks for its server under the page's own path first, and does not find it there."""
    return said.type == "error" and "/_stcore/" not in said.location.get("url", "")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Browser tests run where the browser is."""
    if pyfuncitem.get_closest_marker("browser") is None:
        return None
    thread: BrowserThread = pyfuncitem._request.getfixturevalue("browser_thread")
    wanted = pyfuncitem._fixtureinfo.argnames
    thread.run(pyfuncitem.obj, **{name: pyfuncitem.funcargs[name] for name in wanted})
    return True
