"""The dashboard: how soon a published sentence is on the page, what ten open dashboards cost the server, and the whole
way from the end of speech to the page, with every stage in one process and sample calls playing.

Real Chromium on the Live page, four calls with both sides talking. The browsers take most of a small machine
themselves; what is counted as the dashboard's cost is the processor time of its process alone.
"""

from __future__ import annotations

import random
import tempfile
import time
import urllib.request
from pathlib import Path

import psutil
from playwright.sync_api import Page

from benchmarks.services import free_port, real_calls, sample_calls, tenor
from storage.db.engine import open_database
from storage.queries import operations
from storage.viewer import HOUSE
from tenor.settings import Settings
from tests.dashboard.conftest import BrowserThread, House, running_house
from tests.dashboard.floor import Floor, FloorCall

DASHBOARDS = 10
CALLS = 4
SECONDS = 30.0
WHOLE_WAY_S = 90.0
WARM_UP_S = 15.0
WATCH = """() => {
  let grid
  window.seen = []
  const find = (root) => {
    for (const element of root.querySelectorAll('*')) {
      if (element.matches('.grid[role=list]')) return element
      const inner = element.shadowRoot && find(element.shadowRoot)
      if (inner) return inner
    }
  }
  const known = new Set()
  const look = () => {
    for (const text of grid.querySelectorAll('.last')) {
      const said = /said at (\\d+\\.\\d+)/.exec(text.textContent)
      if (said && !known.has(said[1])) { known.add(said[1]); window.seen.push(Date.now() / 1000 - Number(said[1])) }
    }
  }
  grid = find(document)
  look()
  window.seen = []
  new MutationObserver(look).observe(grid, { subtree: true, childList: true, characterData: true })
}"""


def main() -> None:
    thread = BrowserThread()
    try:
        for dashboards in (1, DASHBOARDS):
            with tempfile.TemporaryDirectory() as home, running_house(Path(home)) as house:
                _measure(thread, house, dashboards)
        for name, files in (("real calls", real_calls()), ("sample calls", sample_calls())):
            with tempfile.TemporaryDirectory() as home:
                if files:
                    _whole_way(thread, Path(home), name, files)
    finally:
        thread.stop()


def _measure(thread: BrowserThread, house: House, dashboards: int) -> None:
    calls = [house.floor.call(f"agent {number}") for number in range(CALLS)]
    pages: list[Page] = [thread.run(_open, thread=thread, house=house, number=number) for number in range(dashboards)]
    process = psutil.Process(house.process.pid)
    _talk(house.floor, calls, 3.0)
    for page in pages:
        thread.run(page.evaluate, expression=WATCH)
    before, began = process.cpu_times(), time.monotonic()
    said = _talk(house.floor, calls, SECONDS)
    after, took = process.cpu_times(), time.monotonic() - began
    delays = sorted(delay for page in pages for delay in thread.run(page.evaluate, expression="window.seen"))
    for page in pages:
        thread.run(page.close)
    cores = (after.user + after.system - before.user - before.system) / took
    print(
        f"{dashboards:2} dashboards, {CALLS} calls: published to page p50 {_within(delays, 0.5):.0f} ms, "
        f"p95 {_within(delays, 0.95):.0f} ms ({len(delays)} of {said * dashboards} seen as the last sentence); "
        f"dashboard process {cores:.2f} cores; load {psutil.getloadavg()[0]:.1f}"
    )


def _whole_way(thread: BrowserThread, home: Path, name: str, files: list[Path]) -> None:
    """`tenor demo` with four calls; the page itself tells how far it is behind speech. People on the telephone pause;
    the sample calls, which are read out by a voice, hardly do."""
    port = free_port()
    flags = ("--calls", str(CALLS), "--port", str(port), "--no-browser", "--no-history")
    with tenor("--home", str(home), "demo", *flags, *map(str, files)):
        deadline = time.monotonic() + 120
        while True:
            try:
                urllib.request.urlopen(f"http://localhost:{port}/_stcore/health", timeout=1).close()
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.5)
        told, since = thread.run(_behind_speech, thread=thread, port=port)
        print(f"whole way, {CALLS} {name}: {told}", flush=True)
    database = open_database(Settings(home=home))
    with database.session() as session:
        for wait in operations.latency(session, HOUSE, since).stages:
            print(f"    {wait.stage:36} p50 {wait.p50:4.0f} ms, p95 {wait.p95:4.0f} ms")
    database.close()


def _behind_speech(thread: BrowserThread, port: int) -> tuple[str, float]:
    """What the page says of itself, and since when it counted: from a second look on, when everything has started."""
    page = thread.context(f"http://localhost:{port}").new_page()
    page.goto(f"http://localhost:{port}")
    page.locator(".status[title]").wait_for(timeout=120_000)
    page.wait_for_timeout(WARM_UP_S * 1000)
    page.reload()
    since = time.time()
    page.wait_for_timeout(WHOLE_WAY_S * 1000)
    told = page.locator(".status").get_attribute("title")
    page.close()
    return told or "nothing was said", since


def _open(thread: BrowserThread, house: House, number: int) -> Page:
    page = thread.context(house.address, f"browser {number}").new_page()
    page.goto(house.address)
    page.locator(".tile").nth(CALLS - 1).wait_for(timeout=60_000)
    return page


def _talk(floor: Floor, calls: list[FloorCall], seconds: float) -> int:
    """Each call: a sentence every two seconds or so, with its interims before it, as the recogniser gives them."""
    chance = random.Random(7)
    until, said = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        for call in calls:
            role = chance.choice(("caller", "agent"))
            for words in range(3):
                call.interim(role, "and so on " * (words + 1))
            call.says(role, f"This was said at {time.time():.3f}", chance.choice(("negative", "neutral", "positive")))
            call.metrics(task="order_status", talk_share__caller=chance.random())
            said += 1
            time.sleep(2.0 / len(calls))
    return said


def _within(delays: list[float], share: float) -> float:
    return delays[min(len(delays) - 1, int(share * len(delays)))] * 1000 if delays else float("nan")


if __name__ == "__main__":
    main()
