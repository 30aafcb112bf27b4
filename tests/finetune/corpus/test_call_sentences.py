"""Sentences of calls by many hands."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from finetune.corpus.call_sentences import examples, read
from tenor.errors import BadInput
from tenor.taxonomy.intents import read as taxonomy

LINE = {
    "text": "that's the third time this month", "role": "caller", "medium": "voice", "industry": "telecom",
    "sentiment": "negative", "intent": "complaint", "also": ["technical_problem"],
    "before": "(same) the line went down again", "tags": ["flat"],
}  # fmt: skip


def test_hands_that_measure_or_calibrate_are_kept_apart(tmp_path: Path) -> None:
    (tmp_path / "first.jsonl").write_text(json.dumps(LINE) + "\n\n")
    (tmp_path / "frozen-second.jsonl.gz").write_bytes(gzip.compress(json.dumps(LINE | {"before": None}).encode()))
    (tmp_path / "calibration-third.jsonl").write_text(json.dumps(LINE))
    corpus = read(tmp_path, taxonomy())
    assert [len(rows) for rows in (corpus.learned, corpus.calibration, corpus.apart)] == [1, 1, 1]
    [example] = examples(corpus.learned)
    assert example.labels == {"sentiment": ("negative",), "intent": ("complaint", "technical_problem")}
    assert (example.role, example.before) == ("caller", "the line went down again")
    assert examples(corpus.apart)[0].before is None


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"intent": "moaning"}, "line 2: there is no label 'moaning'"),
        ({"sentiment": "cross"}, "line 2: there is no label 'cross'"),
        ({"text": 5}, "line 2: Expected `str`"),
    ],
)
def test_a_label_that_is_none_is_refused_with_its_line(tmp_path: Path, change: dict[str, object], says: str) -> None:
    (tmp_path / "first.jsonl").write_text(f"{json.dumps(LINE)}\n{json.dumps(LINE | change)}\n")
    with pytest.raises(BadInput, match=says):
        read(tmp_path, taxonomy())


def test_a_folder_without_sentences(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="holds no sentences"):
        read(tmp_path, taxonomy())
