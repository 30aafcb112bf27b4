"""Pictures of the pages for docs/pages: `python -m tests.dashboard.pictures [PAGE...]`."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import BrowserContext

from storage import sample
from tests.dashboard.conftest import BrowserThread, running_house
from tests.dashboard.scenes import floor_at_work

FOLDER = Path(__file__).parents[2] / "docs" / "pages"


def main(names: list[str]) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    thread = BrowserThread()
    try:
        with tempfile.TemporaryDirectory() as home, running_house(Path(home)) as house:
            calls = floor_at_work(house.floor)
            anna = calls[0]
            time.sleep(2)
            anna.note("Offer the refund and free delivery next time. I will approve it.", author="mia")
            time.sleep(1)
            sample.add(house.floor.database)
            drawn = "[data-testid=stVegaLiteChart] svg"
            shots = {
                "live": ("/", "", ".tile .badge"),
                "call": (f"/call?call={anna.id}", "manager:mia", ".bubble"),
                "my_call": ("/", "agent:anna", ".steps li"),
                "agents": ("/agents?agent=grace.linden&period=8+weeks", "", drawn),
                "everyone": ("/agents", "", drawn),
                "customers": ("/customers?customer=NG-1005", "", drawn),
                "search": ("/search?words=manager&sentiment=negative", "", drawn),
                "review": ("/review", "", drawn),
                "operations": ("/operations?span=8+weeks", "", drawn),
            }
            for name, (path, viewer, wait) in shots.items():
                if names and name not in names:
                    continue
                for suffix, phone, dark in (("", False, False), ("-phone", True, False), ("-dark", False, True)):
                    where = house.address + path + (("&" if "?" in path else "?") + f"as={viewer}" if viewer else "")
                    context = thread.run(thread.context, address=where, phone=phone, dark=dark)
                    thread.run(_shoot, context=context, where=where, wait=wait, path=FOLDER / f"{name}{suffix}.png")
    finally:
        thread.stop()


def _shoot(context: BrowserContext, where: str, wait: str, path: Path) -> None:
    page = context.new_page()
    page.goto(where)
    page.locator(wait).first.wait_for()
    page.wait_for_timeout(2500)
    page.screenshot(path=path)
    page.close()


if __name__ == "__main__":
    main(sys.argv[1:])
