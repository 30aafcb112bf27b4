"""Datasets, Runs, Models and Drift of a home in which models have learned, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from storage.datasets import cache, find
from storage.place import Place
from storage.registry.registry import Registry
from storage.runs import runs
from storage.runs.record import StoredRunRecord
from tests.dashboard.conftest import House, Visit, running_house
from tests.dashboard.learned import learned_home
from tests.tenor.learn.company_home import ANN

pytestmark = [pytest.mark.browser, pytest.mark.slow]
SLOW_MS = 40_000


@pytest.fixture(scope="module")
def school(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with running_house(learned_home(tmp_path_factory.mktemp("learned"))) as running:
        yield running


def settled(page: Page) -> Page:
    expect(page.locator(".t-heading")).to_be_visible(timeout=SLOW_MS)
    expect(page.locator("[data-testid=stSkeleton]")).to_have_count(0)
    expect(page.locator("[data-testid=stException]")).to_have_count(0)
    return page


@pytest.mark.parametrize(
    ("name", "command"), [("datasets", "tenor dataset make house"), ("runs", "tenor finetune house")]
)
def test_without_anything_to_show_the_command_is_named(house: House, visit: Visit, name: str, command: str) -> None:
    page = settled(visit(house, f"/{name}"))
    expect(page.locator(".t-empty")).to_contain_text(command, timeout=SLOW_MS)


@pytest.mark.parametrize("name", ["datasets", "runs"])
def test_what_trains_models_is_not_for_managers(school: House, visit: Visit, name: str) -> None:
    page = visit(school, f"/{name}", looks_as="manager:mia")
    expect(page.locator(".t-empty")).to_contain_text("analysts and administrators", timeout=SLOW_MS)


# -- datasets


def test_a_card_says_what_a_dataset_holds_and_the_header_adds_them_up(school: House, visit: Visit) -> None:
    page = settled(visit(school, "/datasets"))
    newest = find(Place(school.settings.learn_url), "apiary")
    card = page.locator("[data-dataset=apiary]")
    expect(card).to_contain_text(f"{sum(newest.counts.values())} rows", timeout=SLOW_MS)
    expect(card).to_contain_text("2 versions")
    expect(card.locator(".makers i")).to_have_text(["GL", "AN"])
    expect(page.locator(".t-tile", has_text="Datasets").locator("b")).to_have_text("2")
    expect(page.locator(".t-tile", has_text="Datasets")).to_contain_text("3 versions")


def test_one_click_puts_a_dataset_into_the_cache_and_one_takes_it_out(school: House, visit: Visit) -> None:
    page = settled(visit(school, "/datasets?dataset=orders"))
    card = page.locator("[data-dataset=orders]")
    expect(card).to_contain_text("not cached", timeout=SLOW_MS)
    page.get_by_role("button", name="Cache orders@1", exact=True).click()
    expect(card).to_contain_text("1 cached")
    assert any(entry.name.startswith("orders@1") for entry in cache.use(school.settings).entries)
    page.get_by_role("button", name="Clear orders@1 from the cache").click()
    expect(card).to_contain_text("not cached")


def test_the_check_tells_contradictions_and_shows_the_rows(school: House, visit: Visit) -> None:
    page = settled(visit(school, "/datasets?dataset=orders"))
    page.get_by_role("button", name="Check orders@1").click()
    finding = page.locator(".t-finding[data-about=contradictions]")
    expect(finding).to_contain_text("have different labels", timeout=SLOW_MS)
    finding.locator("summary").click()
    expect(finding.locator("details div").first).to_be_visible()
    expect(page.get_by_test_id("verdict")).to_contain_text("trained with")


def test_versions_differ_by_rows_that_lead_to_their_call(school: House, visit: Visit) -> None:
    page = settled(visit(school, "/datasets?dataset=apiary&version=2"))
    added = page.locator(".t-finding[data-change=added]")
    expect(added).to_contain_text("new rows", timeout=SLOW_MS)
    added.locator("summary").click()
    added.locator("a").first.click()
    expect(page).to_have_url(re.compile(r"/call\?call=.*sentence="))


# -- runs


def test_a_run_says_how_it_was_made_and_leads_to_its_data(school: House, visit: Visit) -> None:
    page = settled(visit(school, "/runs?runs=1"))
    expect(page.locator(".t-tile", has_text="Run 1")).to_contain_text("Done", timeout=SLOW_MS)
    expect(page.locator(".t-facts", has_text="epochs")).to_contain_text("20")
    expect(page.locator(".t-log")).to_contain_text("small-1 with")
    expect(page.locator("[data-testid=stVegaLiteChart]").first).to_be_visible()
    page.locator(".t-facts a", has_text="apiary@1").click()
    expect(page).to_have_url(re.compile(r"/datasets\?dataset=apiary&version=1"))
    expect(page.get_by_role("combobox", name="Version")).to_have_value(re.compile("apiary@1"), timeout=SLOW_MS)


def test_runs_beside_each_other_say_whether_they_are_certainly_apart(school: House, visit: Visit) -> None:
    page = settled(visit(school, "/runs?runs=2&runs=3"))
    table = page.locator(".t-beside")
    expect(table.locator("th")).to_have_text(["", "run 2", "run 3"], timeout=SLOW_MS)
    expect(table.locator("tr", has_text="epochs")).to_contain_text(re.compile(r"20\s*1"))
    said = page.locator(".t-finding[data-run='3']")
    expect(said).to_contain_text(re.compile("intent: run 3 against run 2: (certainly|no certain difference|too few)"))


def test_a_run_that_goes_on_is_shown_while_it_does(school: House, visit: Visit) -> None:
    database = school.floor.database
    number = runs.begin(database, ANN, recipe="head", dataset="apiary@2", parameters={"epochs": 9})
    record = StoredRunRecord(database, number)
    page = settled(visit(school, f"/runs?runs={number}"))
    expect(page.locator(".t-tile", has_text=f"Run {number}")).to_contain_text("Running", timeout=SLOW_MS)
    for step in (1, 2):
        record.point(step, "loss", 1 / step)
        expect(page.locator(".t-section", has_text="Loss")).to_contain_text(f"run {number}: {1 / step:g}")
    record.end("failed", error="the disk is full")
    expect(page.locator(".t-trouble")).to_contain_text("the disk is full")
    expect(page.locator(f".t-row[data-run='{number}']")).to_contain_text("failed")


def test_the_queue_shows_teams_and_what_waits(school: House, visit: Visit) -> None:
    page = settled(visit(school, "/runs"))
    expect(page.locator("[data-team=words]")).to_contain_text("1 waiting", timeout=SLOW_MS)
    expect(page.locator("[data-job='1']")).to_contain_text("finetune apiary@2 --recipe head")


# -- models


def test_every_node_of_the_lineage_leads_somewhere(school: House, visit: Visit) -> None:
    page = settled(visit(school, "/models?model=apiary-1"))
    nodes = page.locator(".t-lineage [data-node]")
    wanted = {
        "parent": "/models?model=small-1",
        "labels": "/review",
        "snapshot": "/datasets?dataset=apiary&version=1",
        "dataset": "/datasets?dataset=apiary&version=1",
        "run": "/runs?runs=1",
        "gate": "/models?model=apiary-1#gate",
        "promoted": "/models?model=apiary-1#promotions",
        "sentences": "/search?model=apiary-1&when=7+days",
    }
    expect(nodes).to_have_count(len(wanted), timeout=SLOW_MS)
    assert {node.get_attribute("data-node"): node.get_attribute("href") for node in nodes.all()} == wanted
    expect(page.locator(".t-gate")).to_contain_text("apiary-1 is better than small-1 and may be promoted")
    expect(page.locator(".t-gate .check.passed .t-span").first).to_be_visible()
    nodes.last.click()
    expect(page).to_have_url(re.compile(r"/search\?model=apiary-1"))


def test_what_was_promoted_with_a_reason_is_rolled_back_with_another(school: House, visit: Visit) -> None:
    registry = Registry(school.floor.database, school.settings.models_folder)
    before = registry.champion("language").id
    page = settled(visit(school, "/models?model=apiary-4"))
    page.get_by_role("button", name="Promote apiary-4").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(f"apiary-4 replaces {before}", timeout=SLOW_MS)
    expect(dialog).to_contain_text("The gate was not asked yet")
    send = dialog.get_by_role("button", name="Promote apiary-4")
    send.click()
    expect(dialog.locator(".t-trouble")).to_contain_text("A reason is missing")
    dialog.get_by_label("Why").fill("the bees asked for it")
    send.click()
    expect(dialog.locator(".t-trouble")).to_contain_text("has not passed the gate yet")
    assert registry.champion("language").id == before
    dialog.get_by_text("Promote it although the gate was not passed").click()
    send.click()
    expect(page.get_by_text(f"apiary-4 replaces {before} in 10 seconds")).to_be_visible(timeout=SLOW_MS)
    made = registry.log().promotions[-1]
    assert (made.model, made.previous, made.why) == ("apiary-4", before, "the bees asked for it")
    page.get_by_role("button", name=f"Roll back to {before}").click()
    dialog.get_by_label("Why").fill("they changed their mind")
    dialog.get_by_role("button", name=f"Roll back to {before}").click()
    expect(page.get_by_text(f"{before} replaces apiary-4 in 10 seconds")).to_be_visible(timeout=SLOW_MS)
    assert registry.champion("language").id == before
    expect(page.locator("#promotions")).to_contain_text("they changed their mind")


def test_a_promotion_that_somebody_else_made_meanwhile_is_not_overruled(school: House, visit: Visit) -> None:
    registry = Registry(school.floor.database, school.settings.models_folder)
    before = registry.champion("language").id
    page = settled(visit(school, "/models?model=apiary-3"))
    page.get_by_role("button", name="Promote apiary-3").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Why").fill("I was first")
    dialog.get_by_text("Promote it although the gate was not passed").click()
    registry.promote(ANN, "small-1", "no, I was", force=True)
    try:
        dialog.get_by_role("button", name="Promote apiary-3").click()
        expect(dialog.locator(".t-trouble")).to_contain_text("small-1 was promoted while you looked", timeout=SLOW_MS)
    finally:
        registry.promote(ANN, before, "as before", force=True)


def test_a_manager_looks_at_models_and_decides_nothing(school: House, visit: Visit) -> None:
    page = settled(visit(school, "/models?model=apiary-3", looks_as="manager:mia"))
    expect(page.locator(".t-lineage")).to_be_visible(timeout=SLOW_MS)
    expect(page.get_by_text("Analysts and administrators promote models")).to_be_visible()
    expect(page.get_by_role("button", name="Promote apiary-3")).to_have_count(0)


def test_what_ships_is_shown_where_nothing_was_learned(house: House, visit: Visit) -> None:
    page = settled(visit(house, "/models"))
    expect(page.get_by_text("nothing was learned here yet")).to_be_visible(timeout=SLOW_MS)
    expect(page.locator(".t-row[data-model]")).to_have_count(3)
