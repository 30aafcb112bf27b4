"""`tenor drift` as people and scripts call it."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from storage.db.engine import open_database
from tenor.cli.app import app
from tenor.errors import BadInput
from tenor.settings import Settings
from tests.storage.drift.calls import DAY_S, FIRST, add_day

DAYS = 17


def drift(home: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["--home", str(home), "drift", *words])


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two weeks as usual, and three days on which one queue has more negatives; the last was yesterday."""
    folder = tmp_path_factory.mktemp("home")
    database = open_database(Settings(home=folder))
    first = int((time.time() - FIRST) // DAY_S) - DAYS
    with database.begin() as session:
        for number in range(DAYS):
            add_day(session, first + number, queue="orders", site="south", calls=25)
            add_day(session, first + number, negative=0.5 if number >= DAYS - 3 else 0.1, calls=25)
    database.close()
    return folder


def test_drift_is_told_with_its_queue_and_what_to_do_about_it(home: Path) -> None:
    result = drift(home)
    assert result.exit_code == 1
    assert "data drift" in result.stdout
    assert "queue billing: sentiment negative" in result.stdout
    assert "tenor learn" in result.stderr


def test_a_queue_that_is_as_it_was_has_no_drift(home: Path) -> None:
    result = drift(home, "--queue", "orders")
    assert (result.exit_code, "no drift" in result.stdout) == (0, True)


def test_scripts_get_alarms_tests_and_days(home: Path) -> None:
    result = drift(home, "--json", "--queue", "billing")
    assert result.exit_code == 1
    document = json.loads(result.stdout)
    alarm = next(one for one in document["alarms"] if one["value"] == "negative")
    assert (alarm["kind"], alarm["scope"], alarm["name"]) == ("data", "queue", "billing")
    assert any(test["alarm"] for test in document["tests"])
    assert len(document["series"]["sentiment"]["negative"]) == DAYS


def test_the_days_are_drawn(home: Path, tmp_path: Path) -> None:
    picture = tmp_path / "drift.svg"
    drift(home, "--plot", str(picture))
    text = picture.read_text()
    assert text.startswith("<svg")
    assert "share of sentences with this sentiment" in text
    assert "<circle" in text


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--queue", "nowhere"), "there is no queue nowhere"),
        (("--queue", "billing", "--site", "north"), "two views"),
        (("--plot", "drift.png"), "SVG"),
        (("--since", "soon"), "no time"),
    ],
)
def test_what_cannot_be_asked_is_said_in_a_line(home: Path, words: tuple[str, ...], told: str) -> None:
    result = drift(home, *words)
    assert isinstance(result.exception, BadInput)
    assert told in result.exception.message


def test_an_empty_home_has_nothing_to_compare(tmp_path: Path) -> None:
    result = drift(tmp_path)
    assert (result.exit_code, "nothing to compare" in result.stdout) == (0, True)


def test_without_calls_no_list_of_queues_is_promised(tmp_path: Path) -> None:
    result = drift(tmp_path, "--queue", "billing")
    assert isinstance(result.exception, BadInput)
    assert result.exception.hint == "no call that is over names a queue"
