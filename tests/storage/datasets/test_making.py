"""A search, frozen: ids and labels without words, versions with parents, and a hold-out that is never trained on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from storage.archive.archiver import archive
from storage.datasets import DatasetVersion, open_dataset
from storage.datasets.checking import check
from storage.datasets.making import make
from storage.datasets.splits import group_of, is_held_out
from storage.datasets.versions import diff, rows_of
from storage.db.engine import Database, open_database
from storage.place import Place
from storage.privacy.erasure import erase
from storage.snapshots import take
from storage.viewer import Viewer
from tenor.errors import BadInput, Refused
from tenor.settings import LearnSettings, Settings
from tenor.taxonomy.in_force import NamesInForce
from tests.storage.archive.test_erasures import words_in
from tests.storage.conversations import NAMES, START, add_call
from tests.storage.datasets.material import label, labelled_calls


@pytest.fixture
def sqlite_settings(sqlite_settings: Settings) -> Settings:
    """Rita's word is enough."""
    return sqlite_settings.model_copy(update={"learn": LearnSettings(experts=["rita"])})


@pytest.fixture
def database(sqlite_settings: Settings) -> Iterator[Database]:
    opened = open_database(sqlite_settings)
    with opened.session() as session:
        labelled_calls(session)
    yield opened
    opened.close()


def freeze(database: Database, settings: Settings, search: str = "", name: str = "house") -> DatasetVersion:
    archive(database, settings)
    return make(database, settings, name, search, snapshot=take(settings, by="root").name, by="root")


def test_a_search_is_frozen_without_words(database: Database, sqlite_settings: Settings) -> None:
    made = freeze(database, sqlite_settings, "queue:billing complaint")

    table = rows_of(Place(sqlite_settings.learn_url), made)
    assert table.num_rows + sum(made.left_out.values()) == 30
    assert "complaint" not in str(table.to_pylist())
    assert "customer-" not in str(table.to_pylist())
    with open_dataset(sqlite_settings, "house@1") as dataset:
        rows = list(dataset.rows())
        assert all("complaint" in row.text and row.origin["queue"] == "billing" for row in rows)
        assert {row.sentiment for row in rows} == {"negative", "neutral"}
        assert {row.split for row in rows} >= {"train", "test", "holdout"}
    report = check(Place(sqlite_settings.learn_url), made, NAMES)
    assert [finding.message for finding in report.findings if finding.about == "leak"] == []
    assert report.may_train


def test_a_sentence_whose_words_people_put_right_is_in_it_for_the_recogniser(
    database: Database, sqlite_settings: Settings
) -> None:
    with database.session() as session:
        add_call(
            session, "heard", "Hole order.", "Whole house.", customer="somebody", queue="parcels", started_at=START
        )
        label(session, "heard/0/0", "text", "Whole order.")
        label(session, "heard/1/1000", "text", "Hole house.", held=True)
        session.commit()
    freeze(database, sqlite_settings, "queue:parcels", "words")
    with open_dataset(sqlite_settings, "words@1") as dataset:
        [row] = dataset.rows()
    assert (row.text, row.recognised, row.sentiment, row.intent) == ("Whole order.", "Hole order.", None, None)


def test_versions_have_parents_and_differences(database: Database, sqlite_settings: Settings) -> None:
    first = freeze(database, sqlite_settings)
    assert freeze(database, sqlite_settings) == first, "nothing has changed"
    with database.session() as session:
        label(session, "call-1/1/1000", "sentiment", "negative", at=START + 90 * 86_400)
        add_call(session, "new", "This is a new complaint of somebody else.", started_at=START + 1, customer="x3")
        label(session, "new/0/0", "sentiment", "negative")
        session.commit()

    second = freeze(database, sqlite_settings)

    assert (second.version, second.parent) == (2, 1)
    changes = diff(Place(sqlite_settings.learn_url), first, second)
    assert (changes.added, changes.removed, changes.relabelled) == (["new/0/0"], [], ["call-1/1/1000"])


def test_the_hold_out_takes_only_labels_that_can_be_measured_with(
    database: Database, sqlite_settings: Settings
) -> None:
    held = [number for number in range(60, 400) if is_held_out(group_of(f"customer-{number}", ""))][:5]
    reasons: dict[int, list[dict[str, Any]]] = {
        held[0]: [{"author": "ben"}],  # one who is no expert
        held[1]: [
            {"author_role": "manager"},
            {"author": "ben", "author_role": "manager", "why": "second"},
        ],  # two agree
        held[2]: [{"why": "unsure"}],  # not drawn at random
        held[3]: [{"author": "amir"}],  # the agent on their own call
        held[4]: [{"held": True}],  # waits for a decision
    }
    with database.session() as session:
        for number, labels in reasons.items():
            about: dict[str, Any] = {"customer": f"customer-{number}", "agent": "amir"}
            add_call(session, f"held-{number}", f"A sentence of customer {number} alone.", **about)
            for one in labels:
                label(session, f"held-{number}/0/0", "sentiment", "negative", **one)
        session.commit()

    made = freeze(database, sqlite_settings)

    rows = {row["call"]: row["split"] for row in rows_of(Place(sqlite_settings.learn_url), made).to_pylist()}
    assert {number for number in held if f"held-{number}" in rows} == {held[1]}
    assert rows[f"held-{held[1]}"] == "holdout"


def test_a_label_that_is_not_in_force_any_more_is_told(database: Database, sqlite_settings: Settings) -> None:
    """It was when a person gave it, so it is no error."""
    made = freeze(database, sqlite_settings)
    report = check(Place(sqlite_settings.learn_url), made, NamesInForce(("neutral", "positive"), ()))
    [told] = [finding for finding in report.findings if finding.about == "labels"]
    assert (told.level, told.message) == ("warning", "sentiment: negative is not in force")
    assert report.may_train


def test_corrected_words_are_what_is_learned(database: Database, sqlite_settings: Settings) -> None:
    with database.session() as session:
        label(session, "call-2/0/0", "text", "This is what was really said.")
        session.commit()
    freeze(database, sqlite_settings)
    with open_dataset(sqlite_settings, "house") as dataset:
        texts = {row.id: row.text for row in dataset.rows()}
    assert texts["call-2/0/0"] == "This is what was really said."


async def test_an_erased_call_leaves_datasets_and_caches_and_is_named(
    database: Database, sqlite_settings: Settings
) -> None:
    made = freeze(database, sqlite_settings)
    with open_dataset(sqlite_settings, made.reference) as dataset:
        gone = next(row.call for row in dataset.rows("train"))
        before = len(list(dataset.rows()))
    models = Path(sqlite_settings.learn_url) / "models" / "house-7"
    models.mkdir(parents=True)
    (models / "model.json").write_text('{"name": "house", "version": "7", "dataset": "house@1"}')

    receipt = await erase(database, sqlite_settings, by="root", call=gone)

    assert receipt.learned == ["house@1", "house-7"]
    number = gone.partition("-")[2]
    assert f"complaint number {number} of" not in words_in(sqlite_settings.home / "learn")
    assert f"complaint number {number} of" not in words_in(sqlite_settings.home / "learn-cache")
    with open_dataset(sqlite_settings, made.reference) as dataset:
        assert len(list(dataset.rows())) == before - 2
        assert (dataset.version.erasures, dataset.version.hash) == (1, made.hash)


def test_who_may_not_train_makes_none(database: Database, sqlite_settings: Settings) -> None:
    archive(database, sqlite_settings)
    name = take(sqlite_settings, by="root").name
    with pytest.raises(Refused, match="does not make"):
        make(database, sqlite_settings, "house", "", snapshot=name, by="mia", viewer=Viewer("mia", "manager"))


@pytest.mark.parametrize(
    ("search", "complaint"),
    [
        ("queu:billing", "did you mean"),
        ("since:yesterday", "no time"),
        ("queue:nowhere", "0 found"),
        ("(role:agent) thn (role:caller)", "column 14: 'thn' joins no sentences; did you mean 'then'"),
        ("(xylophone) and not (xylophone)", "0 found"),
    ],
)
def test_a_wrong_search_says_so(database: Database, sqlite_settings: Settings, search: str, complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        freeze(database, sqlite_settings, search)
