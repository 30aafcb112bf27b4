"""`tenor labels`, as it is typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.tenor.cli.command import tenor

TABLE = """text,sentiment,intent
I want my money back,negative,refund
hello there,positiv,greeting
my card is gone,negative,
"""


@pytest.mark.slow
def test_labels_that_exist_already_come_in_are_held_and_go_out(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text(TABLE)
    first = tenor("labels", "import", "labels.csv", "--author", "vendor", cwd=tmp_path)
    assert (first.returncode, first.stdout) == (1, "4 imported, 1 refused\n")
    assert "labels.csv:3: there is no sentiment 'positiv' in force; did you mean 'positive'?" in first.stderr
    again = tenor("labels", "import", "labels.csv", "--author", "vendor", cwd=tmp_path)
    assert again.stdout == "4 here already, 1 refused\n"
    held = tenor("labels", "hold", "vendor", "--reason", "to be asked", cwd=tmp_path)
    assert "4 labels of vendor are held" in held.stderr
    authors = [json.loads(line) for line in tenor("labels", "authors", "--json", cwd=tmp_path).stdout.splitlines()]
    assert {(one["author"], one["kind"], one["labels"], one["held"]) for one in authors} == {
        ("vendor", "intent", 2, "to be asked"),
        ("vendor", "sentiment", 2, "to be asked"),
    }
    nobody = tenor("labels", "release", "nobody", cwd=tmp_path)
    assert (nobody.returncode, "no labels of 'nobody' are held" in nobody.stderr) == (2, True)
    assert tenor("labels", "release", "vendor", cwd=tmp_path).returncode == 0
    exported = tenor("labels", "export", "--format", "label-studio", cwd=tmp_path)
    assert [task["data"]["text"] for task in json.loads(exported.stdout)] == [
        "I want my money back",
        "hello there",
        "my card is gone",
    ]
    checked = tenor("labels", "check", "--json", cwd=tmp_path)
    assert (checked.returncode, json.loads(checked.stdout)["suspects"]) == (0, [])
