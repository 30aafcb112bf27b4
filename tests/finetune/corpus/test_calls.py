"""The sentences of calls: every line follows the page that says how they are labelled."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tenor.taxonomy.intents import read

FOLDER = Path(__file__).parents[3] / "finetune" / "data" / "calls"
EVALUATION = Path(__file__).parents[3] / "nlp" / "evaluation"
ALLOWED = {
    "role": {"caller", "agent"},
    "medium": {"voice", "chat", "email"},
    "sentiment": {"negative", "neutral", "positive"},
    "intent": {"unknown", *(intent.name for intent in read().intents)},
}
OPTIONAL = {"also", "before", "tags"}


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.jsonl.gz")), ids=lambda file: file.name.partition(".")[0])
def test_every_sentence_has_labels_that_there_are(file: Path) -> None:
    rules = (FOLDER / "README.md").read_text("utf-8")
    for number, line in enumerate(_lines(file), 1):
        row = json.loads(line)
        where = f"{file.name}:{number}"
        assert row["text"].strip(), where
        assert row["industry"], where
        assert row.keys() - OPTIONAL == {*ALLOWED, "text", "industry"}, where
        assert all(row[field] in values for field, values in ALLOWED.items()), where
        assert {*row.get("also", [])} <= ALLOWED["intent"] - {row["intent"]}, where
        assert all(f"`{tag}`" in rules for tag in row.get("tags", [])), where


def test_no_sentence_is_one_that_models_are_measured_on() -> None:
    measured = {
        json.loads(line)["text"].lower()
        for name in ("sentiment.jsonl", "intents.jsonl")
        for line in (EVALUATION / name).read_text("utf-8").splitlines()
    }
    written = {json.loads(line)["text"].lower() for file in FOLDER.glob("*.jsonl.gz") for line in _lines(file)}
    assert len(written) > 19_000
    assert not written & measured


def test_no_hand_that_learns_writes_about_an_industry_that_is_measured_on() -> None:
    industries = {
        file.name: {json.loads(line)["industry"] for line in _lines(file)} for file in FOLDER.glob("*.jsonl.gz")
    }
    frozen = set().union(*(found for name, found in industries.items() if name.startswith("frozen")))
    assert len(frozen) >= 12
    assert not frozen & set().union(*(found for name, found in industries.items() if not name.startswith("frozen")))


def _lines(file: Path) -> list[str]:
    return gzip.decompress(file.read_bytes()).decode().splitlines()
