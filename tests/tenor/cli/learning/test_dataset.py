"""`tenor dataset make` and `tenor learn`, as they are typed."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tenor.cli.app import app


@pytest.mark.parametrize("command", [("dataset", "make", "house"), ("learn",)])
def test_a_misspelt_search_is_told_before_anything_is_archived(tmp_path: Path, command: tuple[str, ...]) -> None:
    done = CliRunner().invoke(
        app, ["--home", str(tmp_path), "--quiet", *command, "--search", "(role:caller aspect:prise)"]
    )
    assert done.exit_code != 0
    assert "column 14: there is no aspect 'prise'; did you mean 'price'?" in str(done.exception) + done.output
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []
