"""The sample company: enough to learn from and to judge by, marked as made up, and gone when it is removed."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator

import pytest
from sqlmodel import select

from storage import sample
from storage.datasets.splits import group_of, is_held_out
from storage.db.engine import Database, using
from storage.labels.trust.checks import suspicions, trusted_labels
from storage.sample.company import COMPANY, add_company, plan
from storage.tables import Agent, Call, Customer, Label, Sentence
from tenor.settings import Settings
from tenor.taxonomy.intents import UNKNOWN, read
from tests.tenor.learn.company_home import unknown

OWN = {one["name"] for one in COMPANY["intents"] if one.get("own")}


@pytest.fixture
def database(sqlite_settings: Settings) -> Iterator[Database]:
    with using(sqlite_settings) as opened:
        yield opened


def test_its_intents_are_ours_or_marked_as_its_own() -> None:
    named = {one["name"] for one in (*COMPANY["intents"], *COMPANY["agent"])}
    assert len(OWN) == 5
    assert named - OWN <= set(read().names)
    assert COMPANY["small_talk"]["name"] == UNKNOWN
    assert not OWN & set(read().names)


def test_there_is_enough_to_learn_from_and_to_judge_by(database: Database) -> None:
    add_company(database, unknown)
    with database.session() as session:
        texts = Counter(session.exec(select(Sentence.text)).all())
        customers = dict(session.exec(select(Call.id, Call.customer)).all())
        settled = [one for one in trusted_labels(session, "intent") if one.settled]
        assert suspicions(session) == []
        labels = session.exec(select(Label)).all()
    assert sum(count == 1 for count in texts.values()) >= 1500
    held = [one for one in settled if is_held_out(group_of(customers[one.call], one.call))]
    assert sum(one.value not in OWN for one in held) >= 400  # what the model that ships can be compared on
    assert len({one.author for one in labels}) == 4
    assert {(one.why, one.sample) for one in labels} == {("sample", True)}


def test_it_is_added_once_and_removed_as_other_samples_are(database: Database) -> None:
    assert add_company(database, unknown, calls=12) == 12
    assert add_company(database, unknown, calls=12) == 0
    assert sample.remove(database) == 12
    with database.session() as session:
        for table in (Call, Sentence, Label, Agent, Customer):
            assert session.exec(select(table)).all() == []


def test_the_same_company_is_planned_every_time() -> None:
    now = time.time()
    first, second = ([(call.id, call.customer, call.lines) for call in plan(20, now)] for _ in range(2))
    assert first == second
