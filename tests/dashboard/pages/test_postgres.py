"""Every page on PostgreSQL, and a server that dies and comes back under pages that are open."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from deploy.postgres.server import Server
from storage import sample
from tests.conftest import free_port, postgres_database
from tests.dashboard.conftest import House, Visit, running_house

pytestmark = [pytest.mark.browser, pytest.mark.postgres]

SHOWS = {
    "agents": "[data-testid=stVegaLiteChart]",
    "customers": "[data-testid=stVegaLiteChart]",
    "search?words=manager&sentiment=negative": "mark",
    "review": "[data-testid=stButton]",
    "operations": "[data-stage=storage]",
}
"""What each page that looks back has on it once it has found something."""


@pytest.fixture(scope="module")
def large_house(postgres: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """With weeks behind it."""
    home = tmp_path_factory.mktemp("large")
    with running_house(home, database=postgres_database(postgres)) as running:
        sample.add(running.floor.database, 5)
        yield running


def test_a_call_goes_from_live_to_its_page(large_house: House, visit: Visit) -> None:
    page = visit(large_house, "/")
    call = large_house.floor.call("anna")
    call.says("caller", "My parcel never came.", "negative")
    tile = page.locator(f'.tile[data-call="{call.id}"]')
    expect(tile).to_contain_text("My parcel never came.")
    tile.click()
    expect(page.locator(".row.negative")).to_contain_text("My parcel never came.")
    mine = visit(large_house, "/", looks_as="agent:anna")
    expect(mine.get_by_text("My parcel never came.")).to_be_visible()
    call.ends()


@pytest.mark.parametrize("path", SHOWS)
def test_pages_find_what_was(large_house: House, visit: Visit, path: str) -> None:
    page = visit(large_house, f"/{path}")
    expect(page.locator(SHOWS[path]).first).to_be_visible(timeout=40_000)
    expect(page.locator("[data-testid=stException]")).to_have_count(0)


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[tuple[House, Server]]:
    """A house with a server of its own."""
    with tempfile.TemporaryDirectory(prefix="tenor-postgres-") as folder:
        Path(folder).chmod(0o755)
        server = Server(Path(folder), free_port(), "s3cret")
        try:
            server.start()
            with running_house(tmp_path, database=server.url()) as running:
                yield running, server
        finally:
            server.kill()


def test_a_server_that_is_killed_is_told_and_its_return_noticed(mortal: tuple[House, Server], visit: Visit) -> None:
    house, server = mortal
    page = visit(house, "/")
    call = house.floor.call("jana")
    call.says("caller", "Before it died.")
    tile = page.locator(f'.tile[data-call="{call.id}"]')
    expect(tile).to_contain_text("Before it died.")
    server.kill()
    new = visit(house, "/")
    expect(new.get_by_text("The database does not answer: this page goes on")).to_be_visible(timeout=40_000)
    call.says("caller", "While it was dead.")
    for shown in (page, new):
        expect(shown.locator(f'.tile[data-call="{call.id}"]')).to_contain_text("While it was dead.")
    server.start()
    expect(new.get_by_text("The database does not answer")).to_be_hidden(timeout=40_000)
    tile.click()
    expect(page.locator(".row")).to_have_count(2, timeout=40_000)
    call.ends()
