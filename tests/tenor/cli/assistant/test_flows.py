"""`tenor assistant check`, `draw` and `new`, as a flow author types them."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

from tenor.cli.app import app
from tests.tenor.cli.command import tenor

pytestmark = pytest.mark.slow

FLOWS = Path(__file__).parents[3] / "dialog" / "flow"


def _run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["assistant", *map(str, arguments)])


def test_the_assistant_that_ships_has_no_mistakes(tmp_path: Path) -> None:
    done = tenor("assistant", "check", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert json.loads(done.stdout)["faults"] == []


def test_an_assistant_of_ones_own_passes_check_and_is_never_written_over(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    done = tenor("assistant", "new", folder, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in folder.rglob("*") if path.is_file()} == {"main_flow.yml", "README.md", "first.yml"}
    checked = _run("check", folder, "--json")
    assert checked.exit_code == 0
    assert json.loads(checked.stdout) == {"faults": [], "warnings": []}
    lines = b"where is the nearest pharmacy\nBoston\nhow much is oat milk\n"
    talked = tenor(
        "assistant", "chat", "--flows", folder, "--json", "--at", "2026-11-18T10:00", cwd=tmp_path, stdin=lines
    )
    turns = [json.loads(line) for line in talked.stdout.splitlines()]
    assert [[action["name"] for action in turn["actions"]] for turn in turns] == [[], [], ["places"], ["prices"]]
    assert turns[1]["replies"] == ["Which city are you in?"]
    (folder / "main_flow.yml").write_text("mine")
    again = tenor("assistant", "new", folder, cwd=tmp_path)
    assert again.returncode == 2
    assert "is not empty" in again.stderr
    assert (folder / "main_flow.yml").read_text() == "mine"


def test_every_mistake_is_told_at_once_and_the_exit_code_says_so(tmp_path: Path) -> None:
    done = tenor("assistant", "check", FLOWS / "printed", cwd=tmp_path)
    assert done.returncode == 2
    assert "retail_flow.yml:37:17: there is no state 'check_retail_jarvis_error'; did you mean" in done.stderr
    assert "main_flow.yml:37:1: warning: no way leads to state 'dont_get_the_intent'" in done.stderr
    told = json.loads(_run("check", "--json", FLOWS / "printed").stdout)
    assert len(told["faults"]) == 66
    assert len(told["warnings"]) == 7
    assert set(told["faults"][0]) == {"file", "line", "column", "message"}


def test_files_may_be_given_one_by_one_and_warnings_alone_are_no_failure() -> None:
    files = [FLOWS / "mended" / f"{name}_flow.yml" for name in ("weather", "error", "retail", "main")]
    done = _run("check", *files)
    assert done.exit_code == 0
    assert _run("check", *files[:2]).exit_code == 2


@pytest.mark.parametrize("given", ["nowhere", "empty"])
def test_a_folder_without_flows_is_told(tmp_path: Path, given: str) -> None:
    (tmp_path / "empty").mkdir()
    done = tenor("assistant", "check", tmp_path / given, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.strip().splitlines()) == 2


def test_a_picture_goes_to_standard_output_or_a_file(tmp_path: Path) -> None:
    assert _run("draw", FLOWS / "mended").stdout.startswith("flowchart LR")
    assert _run("draw", FLOWS / "mended", "--format", "dot").stdout.startswith("digraph")
    out = tmp_path / "flow.svg"
    assert _run("draw", FLOWS / "mended", "--format", "svg", "--out", out).exit_code == 0
    assert ElementTree.fromstring(out.read_text()).tag.endswith("svg")
    failed = tenor("assistant", "draw", FLOWS / "mended", "--out", tmp_path / "no" / "where.svg", cwd=tmp_path)
    assert failed.returncode == 2
    assert "cannot write" in failed.stderr
    refused = tenor("assistant", "draw", FLOWS / "printed", cwd=tmp_path)
    assert refused.returncode == 2
    assert "and 46 more" in refused.stderr
