"""`tenor ingest` as it is typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from storage.db.engine import open_database
from storage.privacy import tombstones
from storage.tables import Call
from tenor.cli.app import app
from tenor.errors import BadInput
from tenor.settings import Settings


def ingest(home: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["--home", str(home), "ingest", *words])


def calls(result: Result) -> list[str]:
    return [json.loads(line)["call"] for line in result.stdout.splitlines()]


def test_a_small_corpus_becomes_a_large_one(tmp_path: Path) -> None:
    """Each copy is a call of its own, and the same one when it is repeated."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_text(f"Customer: Hello, this is {name}.\nAgent: Hello.\n")
    files = [str(tmp_path / f"{name}.txt") for name in ("a", "b")]
    once = calls(ingest(tmp_path, *files, "--json"))
    thrice = calls(ingest(tmp_path, *files, "--times", "3", "--json"))
    assert (len(once), len(thrice), len({*thrice})) == (2, 6, 6)
    assert {*once} < {*thrice}
    assert {*calls(ingest(tmp_path, *files, "--times", "3", "--json"))} == {*thrice}


def test_one_id_is_not_for_many_calls(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Customer: Hello.\n")
    result = ingest(tmp_path, str(tmp_path / "a.txt"), "--times", "2", "--call", "x")
    assert isinstance(result.exception, BadInput)
    with pytest.raises(BadInput, match="several calls"):
        raise result.exception


def test_what_was_erased_and_what_is_there_is_said_at_once(tmp_path: Path) -> None:
    for name in ("erased", "there", "new"):
        (tmp_path / f"{name}.txt").write_text(f"Customer: Hello, this is {name}.\nAgent: Hello.\n")
    erased, there, new = (str(tmp_path / f"{name}.txt") for name in ("erased", "there", "new"))
    ids = calls(ingest(tmp_path / "elsewhere", erased, there, "--json"))
    settings = Settings(home=tmp_path)
    database = open_database(settings)
    with database.begin() as session:
        tombstones.mark(session, ids[0], 1.0)
        session.add(Call(id=ids[1], source="file", medium="chat", state="analysed"))
    database.close()
    result = ingest(tmp_path, erased, there, new, "--json")
    told = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(one["failed"], one["reason"]) for one in told] == [
        (True, f"{ids[0]} was erased, and stays so"),
        (False, f"{ids[1]} is there already"),
        (False, "end of file"),
    ]
    assert result.exit_code == 2
    assert ingest(tmp_path, there).exit_code == 0
