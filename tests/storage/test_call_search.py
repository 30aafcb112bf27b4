"""Calls are found by several of their sentences: the same on both databases, in live rules and in replay."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path

import msgspec
import pytest
from sqlmodel import Session

from nlp.rules.replay import replay
from storage.db.engine import Database
from storage.queries.replay import past_calls
from storage.search import SearchQuery, by_day, call_ids, saved, search, search_calls, sentence_ids
from storage.search.text import query_from_text
from storage.viewer import HOUSE, Viewer
from storage.writer.event_batch import EventBatch
from tenor.errors import BadInput
from tests.nlp.rules.calls import CALL, STARTED, rules
from tests.nlp.rules.test_replay import FEELS, Uttered, live
from tests.storage.conversations import START, add_call, add_label
from tests.storage.events import state

ANN = Viewer("ann", "agent")
CANCEL, SORRY, OFFER = "(role:caller intent:cancel)", "(role:agent sorry)", "(role:agent discount*)"


@pytest.fixture
def session(database: Database) -> Iterator[Session]:
    cancel = {"intent": "cancel", "sentiment": "negative"}
    with database.session() as session:
        add_call(
            session,
            "kept",
            "I want to cancel my account.",
            "I am sorry to hear that.",
            "It is too expensive.",
            "We have discounts for you.",
            sentences={0: cancel},
            agent="ann",
            queue="billing",
        )
        add_call(
            session,
            "lost",
            "Hello.",
            "Sorry, one moment.",
            "Cancel it, please.",
            "It is done.",
            sentences={2: cancel},
            agent="bob",
            queue="billing",
            started_at=START + 100,
        )
        add_call(session, "calm", "Hello there.", "We have discounts.", agent="bob", started_at=START + 200)
        add_call(session, "silent", agent="bob", started_at=START + 300)
        session.commit()
        yield session


def found(session: Session, text: str, viewer: Viewer = HOUSE) -> dict[str, list[str]]:
    page = search_calls(session, viewer, query_from_text(text))
    assert page.total == len(page.calls)
    return {one.call: [hit.sentence for hit in one.sentences] for one in page.calls}


def test_a_manager_asks_what_was_said_and_not_said(session: Session) -> None:
    assert found(session, f"{CANCEL} then {SORRY}") == {"kept": ["kept/0/0", "kept/1/1000"]}
    assert found(session, f"{CANCEL} and {SORRY}") == {
        "lost": ["lost/0/2000", "lost/1/1000"],
        "kept": ["kept/0/0", "kept/1/1000"],
    }
    assert found(session, f"{CANCEL} then not {OFFER}") == {"lost": ["lost/0/2000"]}
    assert found(session, f"not {SORRY}") == {"calm": []}  # a call in which nobody spoke says nothing
    assert found(session, f"{SORRY} then not (expensive) then {OFFER}") == {}
    assert list(found(session, "queue:billing not (expensive)")) == ["lost"]
    assert list(found(session, f"agent:ann,bob until:2026-09-01 {SORRY}")) == []
    assert found(session, f"{CANCEL} then {CANCEL}") == {}


def test_a_found_call_shows_its_sentences_marked(session: Session) -> None:
    (call,) = search_calls(session, HOUSE, SearchQuery(said='(cancel) then (role:agent "sorry to")')).calls
    assert (call.call, call.agent, call.queue) == ("kept", "ann", "billing")
    marked = [one.snippet.text[mark.start : mark.end] for one in call.sentences for mark in one.snippet.marks]
    assert marked == ["cancel", "sorry to"]


def test_an_agent_finds_only_their_own_calls(session: Session) -> None:
    assert list(found(session, CANCEL, ANN)) == ["kept"]
    assert list(found(session, "not (nothing)", ANN)) == ["kept"]


def test_what_people_corrected_counts(session: Session) -> None:
    add_label(session, "calm/0/0", "intent", "cancel")
    add_label(session, "calm/1/1000", "text", "We are sorry.")
    add_label(session, "kept/0/0", "intent", "complaint")
    session.commit()
    assert found(session, f"{CANCEL} then {SORRY}") == {"calm": ["calm/0/0", "calm/1/1000"]}


def test_pages_show_every_call_once(session: Session) -> None:
    query = SearchQuery(said="(hello) and not (nothing)")
    first = search_calls(session, HOUSE, query, limit=1)
    second = search_calls(session, HOUSE, query, limit=1, cursor=first.cursor)
    assert [one.call for page in (first, second) for one in page.calls] == ["calm", "lost"]
    assert (first.total, second.total, second.cursor) == (2, 2, None)
    with pytest.raises(BadInput, match="no place"):
        search_calls(session, HOUSE, query, cursor="bad!")


def test_sentences_and_calls_are_not_mixed_up(session: Session) -> None:
    with pytest.raises(BadInput, match="in brackets"):
        search_calls(session, HOUSE, SearchQuery(said="(a)", role=("agent",)))
    with pytest.raises(BadInput, match="for calls"):
        search(session, HOUSE, SearchQuery(said="(a)"))
    with pytest.raises(BadInput, match="for calls"):
        by_day(session, HOUSE, SearchQuery(said="(a)"), UTC)
    with pytest.raises(BadInput, match="column 4"):
        search_calls(session, HOUSE, SearchQuery(said="(a) (b)"))
    with pytest.raises(BadInput, match="for sentences"):
        search_calls(session, HOUSE, SearchQuery(words="a"))
    with pytest.raises(BadInput, match="column 4"):
        saved.save(session, "mia", "wrong", SearchQuery(said="(a) (b)"))


def test_a_search_for_calls_is_kept_and_gives_all_their_sentences(session: Session) -> None:
    query = query_from_text(f"queue:billing {CANCEL} then {SORRY}")
    saved.save(session, "mia", "cancelled", query, days=7)
    (kept,) = saved.saved(session, "mia")
    assert (kept.query, kept.days) == (query, 7)
    assert sentence_ids(session, HOUSE, kept.query) == {f"kept/{n % 2}/{n * 1000}" for n in range(4)}


SEARCHES = (
    "(role:caller intent:cancel) then (role:agent fine)",
    "(role:caller cancel*) and (role:agent morning)",
    "(sentiment:negative) then not (role:agent fine)",
    "(sentiment:negative) then (account) then (bad)",
    "(bad) then not (morning) then (account)",
    "not (role:agent good) then (role:caller intent:cancel)",
    'not ("good morning")',
    "(intent:cancel,complaint -account) and not (role:agent sentiment:negative)",
    "(role:caller) then (role:agent) then (role:caller) then not (role:agent)",
    '("account is") then ("want to cancel my")',
    "(language:other)",
    "(fine) then (fine)",
    "(role:caller aspect:product) then (aspect:service,price)",
    "(aspect:service) and not (aspect:product)",
)


def test_stored_live_and_replayed_give_the_same_calls(database: Database, tmp_path: Path) -> None:
    ruleset = rules(tmp_path, "\n".join(f"r{n}: {{when: {{search: '{text}'}}}}" for n, text in enumerate(SEARCHES)))
    chance = random.Random(17)
    watched: dict[str, set[str]] = {rule.name: set() for rule in ruleset}
    names = [f"call-{number:03}" for number in range(120)]
    with database.begin() as session:
        for name in names:
            spoken: list[Uttered] = []
            for channel in (0, 1):
                at = 0
                for _ in range(chance.randrange(6)):
                    at += chance.randrange(600, 9000)
                    spoken.append(Uttered(channel, at, at + 900, chance.choice(sorted(FEELS))))
                    at += 900
            end_ms = max([one.end_ms for one in spoken], default=0) + 1000
            sentences, alerts = live(ruleset, sorted(spoken, key=lambda one: (one.end_ms, one.channel)), end_ms)
            for alert in alerts:
                watched[alert.rule].add(name)
            own = [
                msgspec.structs.replace(one, call=name, sentence=one.sentence.replace(CALL, name)) for one in sentences
            ]
            events = [state(name, "live"), *own, state(name, "analysed")]
            EventBatch([(event, STARTED) for event in events]).write(session)
    again: dict[str, set[str]] = {rule.name: set() for rule in ruleset}
    for past in past_calls(database, HOUSE, names):
        for alert in replay(ruleset, past.id, past.info, past.sentences, past.end_ms):
            again[alert.rule].add(past.id)
    with database.session() as session:
        stored = {f"r{n}": set(call_ids(session, HOUSE, SearchQuery(said=text))) for n, text in enumerate(SEARCHES)}
    assert stored == again == watched
    assert sum(0 < len(calls) < len(names) for calls in stored.values()) >= 10  # nothing is trivially so
