"""A sentence is told to several audiences, to each what it needs. A field that the event gets is thought of for all."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest

from dashboard.api import models
from dashboard.routes import snapshot
from storage.db.engine import Database
from storage.queries import live, replay
from storage.search import Hit
from storage.tables import Sentence as Row
from storage.transfer import exporter
from storage.transfer.document import CallDocument
from storage.viewer import HOUSE
from storage.writer.event_batch import EventBatch
from tenor.events import Sentence
from tenor.runtime.batch import call_result
from tests.storage.events import STARTED, sentence, state

EVENT = {"id" if name == "sentence" else name for name in Sentence.__struct_fields__} - {"v"}
WORKED_OUT = {"spoken_at", "latency_ms"}
"""Columns that the writer makes of the event and of its call."""


def of_struct(struct: type[msgspec.Struct]) -> set[str]:
    return {field.name for field in msgspec.structs.fields(struct)}


DOCUMENT: Any = next(field.type for field in msgspec.structs.fields(CallDocument) if field.name == "sentences")

PLACES: dict[str, tuple[set[str], set[str]]] = {
    # place: (what it tells, which fields of the event it leaves out on purpose)
    "the row (storage/tables.py)": (set(Row.model_fields), set()),
    "the export document (storage/transfer/document.py)": (of_struct(get_args(DOCUMENT)[0]), set()),
    "the Call page (dashboard/routes/snapshot.py)": ({"id", *snapshot.SENTENCE}, {"models", "novelty", "confidence"}),
    "the API (dashboard/api/models.py: Sentence)": (
        set(models.Sentence.model_fields) - {"labels"},  # people's, not the classifiers'
        {"labels", "times", "novelty", "confidence"},
    ),
    "the Live page (storage/queries/live.py: OF_SENTENCE)": (
        set(live.OF_SENTENCE),
        {"call", "channel", "revision", "sentiment_scores", "intent_score", "slots", "labels", "language"}
        | {"models", "times", "novelty", "confidence"},
    ),
    "a search hit (storage/search/sentences.py: Hit)": (
        of_struct(Hit) - {"sentence", "snippet"} | {"id", "text"},
        {"revision", "sentiment_scores", "intent_score", "slots", "labels", "models", "times", "novelty", "confidence"},
    ),
    "the exported table (storage/transfer/exporter.py: OF_SENTENCE)": (
        {*exporter.OF_SENTENCE, "call", "id"},
        {"revision", "sentiment_scores", "labels", "models", "times", "novelty", "confidence"},
    ),
    "tenor analyze --json (tenor/runtime/batch/call_result.py: OF_SENTENCE)": (
        {*call_result.OF_SENTENCE, "labels", "language"},  # the last two where there is something to tell
        {"id", "call", "revision", "mood", "models", "times", "novelty", "confidence"},
    ),
}


@pytest.mark.parametrize("place", PLACES)
def test_every_field_of_a_sentence_is_told_or_left_out_on_purpose(place: str) -> None:
    told, left_out = PLACES[place]
    assert EVENT - told == left_out, f"{place}: a sentence has fields that it neither tells nor leaves out on purpose"


@pytest.mark.parametrize("place", ["the row (storage/tables.py)", "the export document (storage/transfer/document.py)"])
def test_what_is_kept_adds_only_what_is_worked_out(place: str) -> None:
    assert PLACES[place][0] - EVENT == WORKED_OUT


def test_the_api_tells_of_live_calls_what_the_live_page_gets() -> None:
    assert tuple(models.LiveSentence.model_fields) == live.OF_SENTENCE
    assert set(models.Hit.model_fields) == of_struct(Hit)


REQUIRED = {
    field.name: msgspec.to_builtins(getattr(sentence("one", 0), field.name))
    for field in msgspec.structs.fields(Sentence)
    if field.required
}


def test_a_sentence_comes_back_from_the_database_as_it_was(database: Database) -> None:
    said = sentence(
        "one", 1000, "agent", -0.25, revision=2, slots={"date": "today"}, labels={"topic": "delivery"},
        language="other", models={"intent": "ours"}, novelty=0.25, confidence=0.75,
    )  # fmt: skip
    plain = msgspec.structs.asdict(msgspec.convert({"type": "sentence", **REQUIRED}, Sentence))
    unsaid = {name for name, value in plain.items() if name not in REQUIRED and getattr(said, name) == value}
    assert unsaid == {"v"}, "give every field a value of its own here, or its loss goes unnoticed"
    with database.begin() as session:
        EventBatch([(state("one", "live"), STARTED), (said, STARTED), (state("one", "ended"), STARTED)]).write(session)
    (call,) = replay.past_calls(database, HOUSE, ["one"])
    assert call.sentences == [said]
