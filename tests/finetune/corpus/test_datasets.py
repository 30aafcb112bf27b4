"""What models learn from, and what they must not."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from random import Random

import pytest

from finetune.corpus import datasets
from finetune.corpus.examples import LabelledText, plain
from finetune.corpus.mixture import USED, allowed
from tenor.errors import BadInput
from tenor.taxonomy.intents import read


def test_only_sets_whose_licence_allows_it_teach_what_ships() -> None:
    assert all(datasets.SOURCES[name].ships for name in USED)
    assert not datasets.SOURCES["meld"].ships
    assert "meld" not in USED


def test_our_sentences_are_many_and_of_every_feeling() -> None:
    rows = datasets.own_sentiment(Random(7))
    assert len(rows) > 1500
    assert {row.label for row in rows} == {"negative", "neutral", "positive"}
    assert not any(mark in row.text for row in rows for mark in "(){}|")


def test_our_intents_are_those_of_the_taxonomy() -> None:
    rows = datasets.own_intents(Random(7))
    assert {row.label for row in rows} == {*read().names, "unknown"}


def test_our_values_are_marked_where_they_stand() -> None:
    for row in datasets.own_slots(Random(7), most=5):
        for start, end, _ in row.spans:
            assert row.text[start:end].strip() == row.text[start:end] != ""


def test_frozen_sentences_are_not_learned() -> None:
    frozen = datasets.evaluation("sentiment")[0]["text"]
    kept = allowed([LabelledText(frozen.upper() + "!", "negative"), LabelledText("something else entirely", "neutral")])
    assert [row.text for row in kept] == ["something else entirely"]


def test_examples_of_intents_are_not_the_ones_we_measure_with() -> None:
    frozen = {plain(row["text"]) for row in datasets.evaluation("intents")}
    examples = {plain(text) for intent in read().intents for text in intent.examples}
    # "yes", "no", "goodbye": what is said in a word or two cannot be said otherwise.
    assert all(len(text.split()) < 3 for text in frozen & examples)


def test_public_labels_are_translated_to_intents_we_have() -> None:
    names = set(read().names)
    for source in ("clinc150", "banking77", "hwu64"):
        tree = datasets.public_labels(source)
        assert set(tree.values()) <= names
    rows = [LabelledText("a", "pay_bill"), LabelledText("b", "flip_coin")]
    assert datasets.translated(rows, "clinc150") == [LabelledText("a", "payment")]
    assert datasets.translated(rows, "clinc150", "unknown")[1].label == "unknown"


def test_lines_of_ones_own_are_read_plain_or_packed(tmp_path: Path) -> None:
    line = json.dumps({"text": "hi", "intent": "greeting"}) + "\n"
    (tmp_path / "a.jsonl").write_text(line)
    with gzip.open(tmp_path / "b.jsonl.gz", "wt") as file:
        file.write(line)
    for name in ("a.jsonl", "b.jsonl.gz"):
        assert datasets.intents(tmp_path / name) == [LabelledText("hi", "greeting")]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"text": "hi"}\n', "line 1: a text and an intent"),
        ("hello\n", "line 1: not a JSON object"),
        ("[1]\n", "not a JSON"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "a.jsonl").write_text(content)
    with pytest.raises(BadInput, match=said):
        datasets.intents(tmp_path / "a.jsonl")


def test_a_missing_set_is_explained(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot read"):
        datasets.meld(tmp_path)
