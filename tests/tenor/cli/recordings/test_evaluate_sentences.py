"""`tenor evaluate sentences` with the model that ships."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.tenor.cli.command import tenor

pytestmark = pytest.mark.slow

ROWS: list[dict[str, Any]] = [
    {"text": "where is my parcel", "sentiment": "neutral", "intent": "order_status", "role": "caller"},
    {"text": "this is the worst service i have ever had", "sentiment": "negative", "role": "caller", "tags": ["<b>"]},
    {"text": "you have been so kind, thank you so much", "sentiment": "negative", "role": "caller"},
    {"text": "how can i help you today", "sentiment": "neutral", "intent": "offer_help", "role": "agent"},
]


def test_a_set_is_measured_and_its_worst_sentence_comes_first(tmp_path: Path) -> None:
    file = tmp_path / "set.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS) + "not json\n")
    done = tenor("evaluate", "sentences", file, "--json", "--out", tmp_path / "out", cwd=tmp_path)
    assert done.returncode == 2, done.stderr  # because of the last line
    assert "line 5" in done.stderr
    found = json.loads(done.stdout, parse_constant=pytest.fail)
    assert found["sentences"] == 4
    assert found["told"][0]["figures"]["sentiment accuracy"]["value"] == 0.75
    assert found["worst"][0]["text"] == ROWS[2]["text"]
    assert {one["name"] for one in found["by"]["role"]} == {"caller", "agent"}
    kept = [json.loads(line) for line in (tmp_path / "out" / "sentences.jsonl").read_text().splitlines()]
    assert [row["wrong_by"] > 0 for row in kept] == [True, False, False, False]
    assert (tmp_path / "out" / "confusion.svg").read_text().startswith("<svg")


def test_people_read_it(tmp_path: Path) -> None:
    file = tmp_path / "set.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    done = tenor("evaluate", "sentences", file, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "role and before" in done.stdout
    assert "75.0" in done.stdout
    assert "sentiment positive, people say negative" in done.stdout
    assert "<b>" in done.stdout
