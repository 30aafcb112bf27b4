"""`tenor assistant export`, as a user types it."""

from __future__ import annotations

import csv
import io
from datetime import datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from storage.db.engine import open_database
from storage.tables import Audit
from storage.writer.event_batch import EventBatch
from tenor.cli.app import app
from tenor.errors import BadInput
from tenor.settings import Settings
from tests.storage.events import state, turn

DAY = datetime(2026, 11, 8, 12).astimezone().timestamp()


@pytest.fixture
def home(sqlite_settings: Settings) -> Path:
    database = open_database(sqlite_settings)
    lines = ("milk price", "jeans price", "laptop price", "sofa price", "bread price", "sushi price")
    told = [
        turn("c", number, text, at=DAY + number, intent="price_check", intent_score=0.9, tags=("B-item.type", "O"))
        for number, text in enumerate(lines)
    ]
    older = turn("older", 0, "where", at=DAY - 86_400, intent="store_location", intent_score=0.9, tags=("O",))
    with database.begin() as session:
        EventBatch((event, DAY) for event in (state("c", "live"), *told, older)).write(session)
    database.close()
    return sqlite_settings.home


def tenor(home: Path, *arguments: str) -> str:
    done = CliRunner().invoke(app, ["--home", str(home), "assistant", "export", *arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_day_as_a_table_on_standard_output(home: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(tenor(home, "--day", "2026-11-08"))))
    assert [row["input"] for row in rows][:2] == ["milk price", "jeans price"]
    assert {row["call"] for row in rows} == {"c"}
    since = list(csv.DictReader(io.StringIO(tenor(home, "--since", "2026-11-07"))))
    assert [row["call"] for row in since][:2] == ["older", "c"]
    assert list(csv.DictReader(io.StringIO(tenor(home, "--day", "2020-01-01")))) == []


def test_a_stretch_as_nemos_files_and_a_line_in_the_audit_trail(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "nemo"
    tenor(home, "--format", "nemo", "--since", "2026-11-07", "--out", str(folder))
    assert sorted(path.name for path in folder.iterdir()) == [
        "dict.intents.csv", "dict.slots.csv", "test.tsv", "test_slots.tsv", "train.tsv", "train_slots.tsv",
    ]  # fmt: skip
    rows = [*(folder / "train.tsv").read_bytes().splitlines(), *(folder / "test.tsv").read_bytes().splitlines()]
    assert b"milk price\t0" in rows
    assert b"where\t1" in rows
    database = open_database(Settings(home=home))
    with database.session() as session:
        trail = [row for row in session.query(Audit) if row.action == "turns.exported"]
    database.close()
    assert [row.detail["rows"] for row in trail] == [7]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--format", "xlsx"], "no format"),
        (["--format", "nemo"], "six"),
        (["--day", "yesterday"], "no day"),
        (["--day", "2026-11-08", "--since", "2026-11-07"], "not both"),
        (["--since", "soon"], "no time"),
        (["--format", "nemo", "--out", "x", "--day", "2020-01-01"], "no sentence"),
    ],
)
def test_what_cannot_be_is_said(home: Path, arguments: list[str], told: str) -> None:
    with pytest.raises(BadInput, match=told):
        CliRunner().invoke(app, ["--home", str(home), "assistant", "export", *arguments], catch_exceptions=False)
