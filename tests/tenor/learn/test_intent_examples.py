"""What the file of intents says is learned with the labels, but for sentences that a model is measured with."""

from __future__ import annotations

from pathlib import Path

import yaml

from finetune.recipes.base import EXAMPLE, TrainingRow
from tenor.learn.intent_examples import examples_hash, intent_examples
from tenor.settings import LanguageSettings, Settings
from tenor.taxonomy.intents import DEFAULT

SAID = [
    "the dome is closed again",
    "can i have a night on the big telescope",
    "is the refractor free",
    "any dark hours left",
]


def settings_with(folder: Path, examples: list[str]) -> Settings:
    intents = yaml.load(DEFAULT.read_text("utf-8"), yaml.BaseLoader)  # a yes is a word here
    intents["book_dark_hours"] = {"description": "Wants hours on a telescope.", "task": True, "examples": examples}
    (folder / "intents.yaml").write_text(yaml.safe_dump(intents))
    return Settings(home=folder, language=LanguageSettings(intents=str(folder / "intents.yaml")))


def test_what_the_model_that_ships_has_not_learned_is_learned(tmp_path: Path) -> None:
    assert intent_examples(Settings(home=tmp_path), "", []) == []
    measured = TrainingRow(id="1", text="The dome is closed again.", intent="book_dark_hours", split="test")
    found = intent_examples(settings_with(tmp_path, SAID), "", [measured])
    assert [(row.text, row.split, row.origin) for row in found] == [
        (SAID[0], "test", {EXAMPLE: "book_dark_hours"}),
        *((text, "train", {EXAMPLE: "book_dark_hours"}) for text in SAID[1:]),
    ]


def test_other_sentences_in_the_file_make_another_training(tmp_path: Path) -> None:
    assert examples_hash(Settings(home=tmp_path)) == {}
    first = examples_hash(settings_with(tmp_path, SAID))
    assert first == examples_hash(settings_with(tmp_path, SAID)) != examples_hash(settings_with(tmp_path, SAID[:3]))
