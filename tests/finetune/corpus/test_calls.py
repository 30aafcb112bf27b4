"""The sentences of calls: every line follows the page that says how they are labelled."""

from __future__ import annotations

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


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.jsonl")), ids=lambda file: file.stem)
def test_every_sentence_has_labels_that_there_are(file: Path) -> None:
    rules = (FOLDER / "README.md").read_text("utf-8")
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
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
    written = {
        json.loads(line)["text"].lower()
        for file in FOLDER.glob("*.jsonl")
        for line in file.read_text("utf-8").splitlines()
    }
    assert len(written) > 3000
    assert not written & measured
