"""Which names are in force: a file's, else those of a model of one's own, else those that ship."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tenor.errors import BadInput
from tenor.settings import LanguageSettings
from tenor.taxonomy.in_force import intents_in_force, sentiments_in_force
from tenor.taxonomy.intents import read
from tenor.taxonomy.sentiments import SHIPPED

LEARNED = {"intent": ["lost_card", "greeting", "unknown"], "sentiment": ["positive", "livid", "neutral"]}


def model(folder: Path, **heads: list[str]) -> str:
    (folder / "model.json").write_text(json.dumps({"name": "ours", "version": "1", "heads": heads}))
    return str(folder)


def test_what_ships() -> None:
    assert intents_in_force(LanguageSettings()) == read()
    assert sentiments_in_force(LanguageSettings()) == SHIPPED


def test_a_model_of_ones_own(tmp_path: Path) -> None:
    """All that it learned can be what a call is about, but for what ours has as small talk."""
    language = LanguageSettings(model=model(tmp_path, **LEARNED))
    assert intents_in_force(language).names == ("lost_card", "greeting")
    assert intents_in_force(language).tasks == {"lost_card"}
    assert sentiments_in_force(language) == {"positive": 1.0, "livid": 0.0, "neutral": 0.0}


def test_what_a_model_does_not_tell_is_told_by_the_one_that_ships(tmp_path: Path) -> None:
    assert sentiments_in_force(LanguageSettings(model=model(tmp_path, intent=["lost_card"]))) == SHIPPED


def test_a_file_decides(tmp_path: Path) -> None:
    intents, sentiments = tmp_path / "intents.yaml", tmp_path / "sentiments.yaml"
    intents.write_text(
        "return:\n  description: Sends it back.\n  examples: [take it back, i return it, it goes back]\n"
    )
    sentiments.write_text(
        "cross: {valence: -1, examples: [i am cross, how dare you, a disgrace]}\n"
        "calm: {valence: 0, examples: [on monday, that is fine, it is blue]}\n"
    )
    language = LanguageSettings(
        model=model(tmp_path, **LEARNED), intents=str(intents), sentiments=str(sentiments), backend="local"
    )
    assert intents_in_force(language).names == ("return",)
    assert sentiments_in_force(language) == {"cross": -1.0, "calm": 0.0}


def test_a_server_has_models_of_its_own(tmp_path: Path) -> None:
    language = LanguageSettings(model=model(tmp_path, **LEARNED), backend="riva")
    assert intents_in_force(language) == read()
    assert sentiments_in_force(language) == SHIPPED


def test_a_folder_without_a_model_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="holds no language model"):
        intents_in_force(LanguageSettings(model=str(tmp_path)))
