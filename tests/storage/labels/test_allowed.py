"""What a label may say, wherever the sentences are understood."""

from __future__ import annotations

import json
from pathlib import Path

from storage.db.engine import Database
from storage.labels.allowed import allowed_names, searchable_names
from tenor.settings import LanguageSettings
from tests.storage.conversations import NAMES
from tests.storage.rows import call, sentence, store


def names(database: Database, language: LanguageSettings, *, to_search: bool = False) -> tuple[set[str], set[str]]:
    with database.session() as session:
        found = (searchable_names if to_search else allowed_names)(session, language)
    assert found.intents[-1] == "unknown" or to_search
    return set(found.sentiments), set(found.intents)


def understood(database: Database) -> None:
    store(
        database,
        call("one"),
        sentence("one", 0, sentiment="grumpy", intent="weather"),
        sentence("one", 1000, sentiment="neutral", intent="weather"),
        sentence("one", 2000, sentiment="neutral", intent="balance"),
    )


def test_a_model_of_ones_own_whatever_was_understood_before(database: Database, tmp_path: Path) -> None:
    heads = {"intent": ["lost_card", "unknown"], "sentiment": ["livid", "positive"]}
    (tmp_path / "model.json").write_text(json.dumps({"name": "ours", "version": "1", "heads": heads}))
    understood(database)
    language = LanguageSettings(model=str(tmp_path))
    assert names(database, language) == ({"livid", "positive"}, {"lost_card", "unknown"})
    assert names(database, language, to_search=True) == (
        {"livid", "positive", "grumpy", "neutral"},
        {"lost_card", "unknown", "weather", "balance"},
    )


def test_a_server_has_ours_and_what_it_says(database: Database) -> None:
    riva = LanguageSettings(backend="riva")
    assert names(database, riva) == ({*NAMES.sentiments}, {*NAMES.intents})
    understood(database)
    assert names(database, riva) == ({*NAMES.sentiments, "grumpy"}, {*NAMES.intents, "weather"})


def test_a_model_that_is_on_another_machine_has_what_its_sentences_carry(database: Database, tmp_path: Path) -> None:
    elsewhere = LanguageSettings(model=str(tmp_path / "not here"))
    assert names(database, elsewhere) == (set(), {"unknown"})
    understood(database)
    assert names(database, elsewhere) == ({"grumpy", "neutral"}, {"weather", "balance", "unknown"})


def test_a_file_that_changes_is_read_again(database: Database, tmp_path: Path) -> None:
    file = tmp_path / "intents.yaml"
    entry = "{name}: {{description: Something., examples: [one of it, two of it, three of it]}}\n"
    for number, name in enumerate(("returns", "repairs"), 1):
        file.write_text("".join(entry.format(name=f"{name}{one}") for one in range(number)))
        expected = {*(f"{name}{one}" for one in range(number)), "unknown"}
        assert names(database, LanguageSettings(intents=str(file)))[1] == expected
