"""`tenor assistant test`, as a flow author types it."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner, Result

from tenor.cli.app import app
from tenor.errors import BadInput
from tests.tenor.cli.command import tenor


def _run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["assistant", "test", "--understander", "keywords", *map(str, arguments)])


def _mine(folder: Path) -> Path:
    assert CliRunner().invoke(app, ["assistant", "new", str(folder)]).exit_code == 0
    return folder


def test_an_assistant_of_ones_own_passes_its_test_at_once(tmp_path: Path) -> None:
    mine = _mine(tmp_path / "mine")
    done = _run(mine)
    assert done.exit_code == 0, done.output
    assert "2 conversations passed" in done.stdout
    assert "covered: 5 of 7 states" in done.stdout


def test_a_failure_exits_with_one_and_a_wrong_file_with_two(tmp_path: Path) -> None:
    mine = _mine(tmp_path / "mine")
    (mine / "tests" / "mine.yml").write_text("a wish:\n  - say: how much is milk\n  - expect: {calls: places}\n")
    failed = _run(mine)
    assert failed.exit_code == 1
    assert "FAILED" in failed.stdout
    assert "got       calls: prices {item: milk}" in failed.stdout
    (mine / "tests" / "mine.yml").write_text("a wish:\n  - say: how much is milk\n  - expect: {cals: places}\n")
    wrong = tenor("assistant", "test", mine, cwd=tmp_path)
    assert wrong.returncode == 2
    assert "mine.yml:3:14: there is no expectation 'cals'; did you mean 'calls'?" in wrong.stderr
    assert wrong.stdout == ""


def test_files_of_a_folder_tests_belong_to_the_assistant_beside_it(tmp_path: Path) -> None:
    mine = _mine(tmp_path / "mine")
    for given in (mine, mine / "tests", mine / "tests" / "first.yml"):
        done = _run("--json", given)
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["coverage"]["states"]["all"] == 7
    elsewhere = tmp_path / "some.yml"
    elsewhere.write_text("a:\n  - say: how much is milk\n  - expect: {calls: prices}\n")
    done = _run("--json", "--flows", mine, elsewhere)
    assert json.loads(done.stdout)["coverage"]["states"]["all"] == 7


def test_one_conversation_can_be_picked_by_name_and_what_is_not_covered_is_listed(tmp_path: Path) -> None:
    mine = _mine(tmp_path / "mine")
    done = _run(mine, "-k", "PRICE", "--coverage")
    assert done.exit_code == 0
    assert "1 conversations passed" not in done.stdout
    assert "1 conversation passed" in done.stdout
    assert "not covered: state main_flow.find_store" in done.stdout
    none = _run(mine, "-k", "nonsense")
    assert isinstance(none.exception, BadInput)
    assert "nonsense" in none.exception.message


def test_folders_without_tests_and_files_that_are_not_there_are_told(tmp_path: Path) -> None:
    mine = _mine(tmp_path / "mine")
    (mine / "tests" / "first.yml").unlink()
    for given, message in ((mine, "has no .yml file"), (tmp_path / "nowhere", "there is no file or folder")):
        done = _run(given)
        assert isinstance(done.exception, BadInput)
        assert message in done.exception.message
