"""Which label counts and who spoke: the same answer in Python, in SQL, on the Live page and in the search index."""

from __future__ import annotations

from itertools import count
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from storage.db.engine import Database
from storage.labels.effective import SENTENCE, CorrectedSentence, effective_values, said, sides
from storage.queries.calls import whole
from storage.queries.live import live_calls
from storage.search import SearchQuery, search
from storage.tables import Label
from storage.viewer import HOUSE
from tests.storage.rows import call, sentence

AGENTS = ("amir", "", "bea")
VALUES = {
    "role": ("caller", "agent", "supervisor"),
    "text": ("alpha words", "beta words", "gamma words"),
    "sentiment": ("negative", "neutral", "positive"),
    "intent": ("refund", "cancel", "unknown"),
}
_numbers = count()


@st.composite
def labels(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Several people of a sentence, the agent among them, some at the same moment."""
    kinds = st.sampled_from(sorted(VALUES))
    one = kinds.flatmap(
        lambda kind: st.fixed_dictionaries(
            {
                "kind": st.just(kind),
                "value": st.sampled_from(VALUES[kind]),
                "author": st.sampled_from(("amir", "", "bea", "maria", "ada")),
                "at": st.sampled_from((10.0, 20.0, 20.5, 30.0)),
            }
        )
    )
    return draw(st.lists(one, max_size=8))


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    made=labels(),
    agent=st.sampled_from(AGENTS),
    swapped=st.booleans(),
    role=st.sampled_from(("caller", "agent", "supervisor")),
)
def test_python_and_sql_agree(
    database: Database, made: list[dict[str, Any]], agent: str, swapped: bool, role: str
) -> None:
    name = f"call-{next(_numbers)}"
    row = sentence(name, 0, role, id=f"{name}/0/0", text="what the model wrote")
    with database.begin() as session:
        session.add(call(name, agent=agent, swapped=swapped))
        session.flush()
        session.add(row)
        session.flush()
        for one in made:
            session.add(Label(sentence=row.id, call=name, predicted="?", **one))
            session.flush()
    with database.session() as session:
        found = whole(session, HOUSE, name)
        assert found is not None
        in_python = effective_values(found.sentences[0], found.call, found.labels.get(row.id, ()))
        in_sql = CorrectedSentence(*session.execute(said().where(SENTENCE.c.id == row.id)).one())
        assert {kind: getattr(in_sql, kind) for kind in VALUES} == in_python == found.said(found.sentences[0])
        [live] = [one for one in live_calls(session, HOUSE) if one.id == name]
        assert live.last is not None
        assert {kind: live.last[kind] for kind in VALUES} == in_python
        text = in_python["text"]
        hits = search(session, HOUSE, SearchQuery(words=text, call=(name,))).hits
        assert [hit.sentence for hit in hits] == [row.id], "found by the text that counts"
        others = {*VALUES["text"]} - {text}
        assert not [
            hit for other in others for hit in search(session, HOUSE, SearchQuery(words=other, call=(name,))).hits
        ]


def test_sides_turned_round_twice_are_as_before() -> None:
    for told in ("caller", "agent", "supervisor"):
        really = sides(swapped=True).get(told, told)
        assert sides(swapped=True).get(really, really) == told
    assert sides(swapped=False) == {}


def test_who_else_said_something_counts_more_than_the_agent_however_late(database: Database) -> None:
    with database.begin() as session:
        session.add(call("one", agent="amir"))
        session.flush()
        session.add(sentence("one", 0))
        session.flush()
        for author, value, at in (("maria", "negative", 10.0), ("amir", "positive", 20.0)):
            label = Label(
                sentence="one/0/0", call="one", kind="sentiment", value=value, predicted="?", author=author, at=at
            )
            session.add(label)
            session.flush()
        assert session.execute(select(said().subquery().c.sentiment)).scalar_one() == "negative"
