"""The page Drift in a real browser: what has drifted, how, and starting to learn about it."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect
from sqlmodel import col, delete

from storage.db.engine import open_database
from storage.drift.watching import bring_up_to_date
from storage.jobs import queue
from storage.tables import DriftSum, DriftTest, Gate
from tenor.settings import Settings
from tests.dashboard.conftest import House, Visit, running_house
from tests.storage.drift.calls import DAY_S, FIRST, MODEL, add_day

pytestmark = [pytest.mark.browser, pytest.mark.slow]
SLOW_MS = 40_000
DAYS, CHANGED = 17, 4
"""Of so many days, the last ones are unlike the others."""


@pytest.fixture(scope="module")
def drifting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """On the last days callers of one queue are angrier, and people find the model wrong more often everywhere."""
    home = tmp_path_factory.mktemp("drifting")
    settings = Settings(home=home)
    database = open_database(settings)
    first = int((time.time() - FIRST) // DAY_S) - DAYS
    accuracy = {"sentiment": {side: {"share": 0.9, "error": 0.01} for side in ("champion", "candidate")}}
    with database.begin() as session:
        session.add(Gate(model="house-1", against=MODEL, passed=True, figures={"accuracy": accuracy}, at=1.0, by="ann"))
        for number in range(DAYS):
            changed = number >= DAYS - CHANGED
            right = 0.2 if changed else 0.9
            add_day(session, first + number, queue="orders", site="south", calls=25, sentences=2, right=right)
            add_day(session, first + number, negative=0.5 if changed else 0.1, calls=25, sentences=2, right=right)
    bring_up_to_date(database, settings)
    database.close()
    with running_house(home) as running:
        yield running


def settled(page: Page) -> Page:
    expect(page.locator(".t-heading")).to_be_visible(timeout=SLOW_MS)
    expect(page.locator("[data-testid=stException]")).to_have_count(0)
    return page


def test_data_drift_and_concept_drift_are_told_apart(drifting: House, visit: Visit) -> None:
    page = settled(visit(drifting, "/drift"))
    data, concept = page.locator("[data-kind=data]"), page.locator("[data-kind=concept]")
    expect(data.locator(".t-finding", has_text="sentiment negative of queue billing")).to_have_count(1, timeout=SLOW_MS)
    expect(data).not_to_contain_text("accuracy")
    expect(concept).to_contain_text("accuracy sentiment of the house")
    expect(concept).to_contain_text("the gate measured 90.0%")
    expect(page.locator(".t-tile", has_text="Live accuracy")).to_contain_text("the gate measured 90.0% of sentiments")
    expect(page.locator("[data-testid=stVegaLiteChart] svg").first).to_be_visible()
    expect(page.locator("tr[data-queue=billing] .alarm").first).to_be_visible()
    expect(page.locator("tr[data-queue=orders] td").nth(3)).not_to_contain_text("▲")


def test_an_alarm_of_a_queue_leads_to_that_queue(drifting: House, visit: Visit) -> None:
    page = settled(visit(drifting, "/drift"))
    page.locator("tr[data-queue=orders] a").click()
    expect(page).to_have_url(re.compile(r"of=queue%3Aorders"), timeout=SLOW_MS)
    expect(page.get_by_role("combobox", name="Of")).to_have_value("Queue orders")
    expect(page.locator("[data-kind=data]")).to_contain_text("No alarm in this period")
    expect(page.locator("tr[data-queue]")).to_have_count(0)


def test_days_are_measured_on_demand(drifting: House, visit: Visit) -> None:
    with drifting.floor.database.begin() as session:
        session.execute(delete(DriftTest))
        session.execute(delete(DriftSum).where(col(DriftSum.day) != ""))
    page = settled(visit(drifting, "/drift"))
    expect(page.locator(".t-empty")).to_contain_text("tenor serve learn", timeout=SLOW_MS)
    page.get_by_role("button", name="Measure the days that are over").click()
    expect(page.locator("[data-kind=concept]")).to_contain_text("accuracy sentiment", timeout=SLOW_MS)


def test_learning_is_started_as_a_job_and_once(drifting: House, visit: Visit) -> None:
    page = settled(visit(drifting, "/drift", looks_as="analyst:ada"))
    page.get_by_role("button", name="Start to learn").click(timeout=SLOW_MS)
    page.get_by_role("button", name="Start tenor learn").click()
    expect(page.locator("[data-job]")).to_contain_text("tenor learn is pending, by ada", timeout=SLOW_MS)
    expect(page.get_by_text("Nobody runs jobs now")).to_be_visible()
    expect(page.get_by_role("button", name="Start to learn")).to_have_count(0)
    with drifting.floor.database.session() as session:
        assert [(job.words, job.by) for job in queue.listing(session)] == [(["learn"], "ada")]


def test_a_manager_looks_and_starts_nothing(drifting: House, visit: Visit) -> None:
    page = settled(visit(drifting, "/drift", looks_as="manager:mia"))
    expect(page.get_by_text("Analysts and administrators start to learn")).to_be_visible(timeout=SLOW_MS)
    expect(page.get_by_role("button", name="Start to learn")).to_have_count(0)
    expect(page.get_by_role("button", name="Measure the days that are over")).to_have_count(0)


def test_what_is_of_everybody_is_not_for_agents(drifting: House, visit: Visit) -> None:
    page = visit(drifting, "/drift", looks_as="agent:anna")
    expect(page.locator(".t-empty")).to_contain_text(
        "Drift is for managers, analysts and administrators", timeout=SLOW_MS
    )
