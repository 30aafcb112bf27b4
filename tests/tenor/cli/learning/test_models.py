"""`tenor models` as a person types it."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nlp.inference.models.language_model import DEFAULT
from tenor.cli.app import app
from tenor.errors import BadInput
from tenor.model_store.card import CARD
from tenor.model_store.shipped import SHIPPED
from tests.model_folders import language_folder, promoted, promotion, registered

FIRST = SHIPPED["language"].id


def tenor(home: Path, *words: str) -> tuple[str, str]:
    """What it prints, on standard output and beside it."""
    result = CliRunner().invoke(app, ["--home", str(home), "models", *words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.stdout, result.stderr


def listed(home: Path) -> dict[str, str]:
    rows = [json.loads(line) for line in tenor(home, "list", "--json")[0].splitlines()]
    assert all(set(row) == {"name", "version", "state", "promoted_at"} for row in rows)
    return {f"{row['name']}-{row['version']}": row["state"] for row in rows}


@pytest.mark.slow
def test_from_a_folder_to_force_and_back(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert listed(home)[FIRST] == "champion"
    folder = language_folder(tmp_path / "house")
    tenor(home, "import", str(folder), "--why", "our products")
    assert (home / "learn" / "models" / "house-1" / "golden.jsonl").read_text().count("\n") == 10
    assert listed(home)["house-1"] == "candidate"
    with pytest.raises(BadInput, match="gate"):
        tenor(home, "promote", "house-1")
    said = tenor(home, "promote", "house-1", "--force", "--why", "a try")[1]
    assert f"house-1 replaces {FIRST} in 10 seconds" in said
    assert listed(home) | {"house-1": "champion", FIRST: "previous"} == listed(home)
    assert "our products" in tenor(home, "show", "house-1")[0]
    tenor(home, "export", "house-1", "--to", str(tmp_path))
    tenor(tmp_path / "there", "import", str(tmp_path / "house-1.zip"))
    assert listed(tmp_path / "there")["house-1"] == "candidate"
    tenor(home, "rollback", "--why", "it was a try")
    assert listed(home) | {"house-1": "rejected", FIRST: "champion"} == listed(home)
    with pytest.raises(BadInput, match="nothing to go back to"):
        tenor(home, "rollback", "--why", "again")


@pytest.mark.slow
def test_labels_of_a_promoted_model_are_in_force_for_every_command(tmp_path: Path) -> None:
    home = tmp_path / "home"
    card = json.loads((DEFAULT / CARD).read_bytes())
    own = [*card["heads"]["intent"][:-1], "swarm_alert"]
    models = home / "learn" / "models"
    sha256 = registered(models, "house-1", turned=False, heads=card["heads"] | {"intent": own})
    promoted(models, promotion("house-1", sha256, time.time() - 1))
    (tmp_path / "labels.csv").write_text("text,intent\nbees in the gutter,swarm_alert\n")
    (tmp_path / "playbook.yaml").write_text(
        "intents:\n  swarm_alert:\n    because: bees are on the move\n    steps: [Ask where they are.]\n"
    )
    for words in (
        ("labels", "import", str(tmp_path / "labels.csv")),
        ("playbook", "check", str(tmp_path / "playbook.yaml")),
    ):
        done = CliRunner().invoke(app, ["--home", str(home), *words])
        assert done.exit_code == 0, done.output


@pytest.mark.slow
def test_a_model_with_wrong_golden_answers_is_not_registered(tmp_path: Path) -> None:
    folder = language_folder(tmp_path / "house")
    (folder / "golden.jsonl").write_text('{"text": "This is terrible.", "answers": {"sentiment": "negative"}}\n')
    with pytest.raises(BadInput, match="1 of 1 golden"):
        tenor(tmp_path / "home", "import", str(folder))
    assert "house-1" not in listed(tmp_path / "home")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("show", "house-9"), "no model house-9"),
        (("promote", "tenor-language-9"), "no model"),
        (("list", "--kind", "telepathy"), "no kind of model"),
        (("rollback", "--why", "x"), "nothing was ever promoted"),
        (("import", "nowhere.zip"), "there is no"),
        (("lineage",), "name a version"),
        (("export", FIRST), "ships with Tenor"),
        (("shadow", FIRST), "is in force"),
    ],
)
def test_what_cannot_be_is_told(words: tuple[str, ...], reason: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=reason):
        tenor(tmp_path, *words)


def test_what_ships_has_no_hash_and_says_where_it_comes_from(tmp_path: Path) -> None:
    shown = json.loads(tenor(tmp_path, "show", FIRST, "--json")[0])
    assert "sha256" not in shown
    assert shown["from"] == "ships with Tenor"
