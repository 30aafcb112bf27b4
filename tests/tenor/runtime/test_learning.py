"""The stage that watches for drift and starts to learn."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from storage.db.engine import open_database
from storage.drift.watching import DriftUpdate
from storage.place import Place
from tenor.learn.steps import StepRecords, StepReport
from tenor.runtime.learning import LearnWorker, last_learned, reason_to_learn
from tenor.settings import LearnSettings, Settings
from tests.storage.drift.calls import add_day

DAY_S = 86_400.0
NOW = 1_000 * DAY_S
DRIFTED = DriftUpdate(days=1, newest="2026-03-01", alarms=2, new_alarms=1)
STEADY = DriftUpdate(days=1, newest="2026-03-01", alarms=2, new_alarms=0)


@pytest.mark.parametrize(
    ("wanted", "update", "days_ago", "reason"),
    [
        ({}, DRIFTED, 100, ""),
        ({"on_drift": "learn"}, DRIFTED, 100, "drift"),
        ({"on_drift": "learn"}, STEADY, 100, ""),
        ({"on_drift": "learn"}, DRIFTED, 0.5, ""),
        ({"schedule": "weekly"}, STEADY, 6, ""),
        ({"schedule": "weekly"}, STEADY, 7, "schedule"),
        ({"schedule": "daily"}, STEADY, 0.99, "schedule"),
        ({"schedule": "monthly"}, STEADY, 29, ""),
        ({"schedule": "monthly"}, STEADY, 1_000, "schedule"),
    ],
)
def test_learning_begins_on_drift_or_by_schedule_and_never_twice_a_day(
    wanted: dict[str, str], update: DriftUpdate, days_ago: float, reason: str
) -> None:
    settings = Settings(learn=LearnSettings.model_validate(wanted))
    assert reason_to_learn(settings, update, NOW - days_ago * DAY_S, NOW) == reason


def test_when_something_was_learned_last_is_known_from_the_loops_own_record(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    assert last_learned(settings) == 0
    StepRecords(Place(settings.learn_url), "house").write(StepReport(step="archive", text="done"), "")
    assert last_learned(settings) > 0


@pytest.mark.slow
async def test_the_stage_measures_and_starts_the_loop_that_the_schedule_asks_for(tmp_path: Path) -> None:
    """A process of its own learns: afterwards the loop's record says how far it came."""
    settings = Settings(home=tmp_path, learn=LearnSettings(schedule="daily"))
    database = open_database(settings)
    with database.begin() as session:
        add_day(session, 0, calls=2)
    stage = asyncio.create_task(LearnWorker(None, settings).run())  # type: ignore[arg-type]
    async with asyncio.timeout(120):
        while not last_learned(settings):
            await asyncio.sleep(0.1)
    stage.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stage
    database.close()
