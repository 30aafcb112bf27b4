"""`tenor dataset` and `tenor learn`, as a new user types them."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tenor.cli.app import app
from tenor.errors import BadInput
from tests.storage.datasets.material import manifest, tone
from tests.tenor.cli.command import tenor


@pytest.mark.parametrize("command", [("dataset", "make", "house"), ("learn",)])
def test_a_misspelt_search_is_told_before_anything_is_archived(tmp_path: Path, command: tuple[str, ...]) -> None:
    done = CliRunner().invoke(
        app, ["--home", str(tmp_path), "--quiet", *command, "--search", "(role:caller aspect:prise)"]
    )
    assert done.exit_code != 0
    assert "column 14: there is no aspect 'prise'; did you mean 'price'?" in str(done.exception) + done.output
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []


def typed(home: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["--home", str(home), "dataset", *words], env={"COLUMNS": "80"})


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    for number in range(3):
        tone(tmp_path / "set" / f"{number}.wav", seed=number)
    said = [{"audio_filepath": f"{number}.wav", "duration": 1.0, "text": f"line {number}"} for number in range(3)]
    manifest(tmp_path / "set" / "train_manifest.json", said)
    return tmp_path / "set"


def test_a_set_that_is_there_already_is_said_to_be(tmp_path: Path, lines: Path) -> None:
    assert "nothing has changed" not in typed(tmp_path, "import", str(lines), "--name", "hv").stderr
    assert "nothing has changed" in typed(tmp_path, "import", str(lines), "--name", "hv").stderr


def test_a_bundle_that_arrives_is_something_new(tmp_path: Path, lines: Path) -> None:
    typed(tmp_path, "import", str(lines), "--name", "hv")
    typed(tmp_path, "export", "hv", "--out", str(tmp_path / "hv.tar"))
    arrived = typed(tmp_path / "elsewhere", "import", str(tmp_path / "hv.tar"))
    assert "hv@1" in arrived.stdout
    assert "nothing has changed" not in arrived.stderr


def test_when_a_version_was_made_stands_in_one_line(tmp_path: Path, lines: Path) -> None:
    typed(tmp_path, "import", str(lines), "--name", "hv")
    listed = tenor("--home", tmp_path, "dataset", "list", cwd=tmp_path, columns=80).stdout
    [line] = [line for line in listed.splitlines() if "hv@1" in line]
    assert line.count("-") == 2, listed


def test_without_calls_the_way_to_some_is_told(tmp_path: Path) -> None:
    result = typed(tmp_path, "make", "house")
    assert isinstance(result.exception, BadInput)
    assert "tenor sample add" in result.exception.hint


def test_the_check_of_a_new_home_says_nothing_but_its_report(tmp_path: Path, lines: Path) -> None:
    """Not that it has made a database."""
    typed(tmp_path, "import", str(lines), "--name", "hv")
    checked = tenor("--home", tmp_path, "dataset", "check", "hv", cwd=tmp_path)
    assert "event" not in checked.stderr
