"""NeMo's files, byte for byte, and the table of turns."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from storage.db.engine import Database
from storage.labels.allowed import turn_names
from storage.labels.labels import correct_turn
from storage.queries.turns import between, corrected_turns
from storage.tables import Turn
from storage.transfer.nemo import ALL_INTENTS, FILES, LabelledLine, is_for_test, labelled_line, nemo_files
from storage.transfer.turn_table import turn_table
from storage.viewer import HOUSE, Viewer
from storage.writer.event_batch import EventBatch
from tenor.events import Event
from tenor.taxonomy.assistant import ROUTED_INTENTS, SLOT_LABELS
from tests.storage.conversations import add_label
from tests.storage.events import STARTED, looked_up, sentence, state, turn

GOLDEN = LabelledLine(
    "where can i get the best pasta",
    "find_the_store",
    ("B-interrogative.location", "O", "O", "B-verb", "B-article", "B-rating.high", "B-item.type"),
)
PAPER = {
    "20 46 24 25 6 32 6": "B-interrogative.manner I-interrogative.manner B-verb B-article "
    "B-item.type I-item.type B-item.type",
    "52 52 24 6": "O O B-verb B-item.type",
    "23 52 14 40 52 25 6 32 6": "B-interrogative O B-cost.low I-cost.low O B-article "
    "B-item.type I-item.type B-item.type",
}
"""Rows of the white paper, and what they stand for."""


def row(**fields: Any) -> Turn:
    usual = {"id": "c/1", "call": "c", "turn": 1, "at": STARTED, "input": "milk price", "intent": "price_check"}
    return Turn(**{**usual, "intent_score": 0.9, "tags": ["B-item.type", "O"], **fields})


def test_the_dictionaries_are_the_papers() -> None:
    made = nemo_files([GOLDEN])
    assert tuple(made) == FILES
    assert made["dict.intents.csv"] == "price_check\nfind_the_store\nunknown\n"
    labels = made["dict.slots.csv"].split("\n")
    assert (len(labels), labels.pop()) == (54, "")
    assert (labels[0], labels[25], labels[26], labels[51], labels[52]) == (
        "B-store.type", "B-article", "I-store.type", "I-article", "O",
    )  # fmt: skip
    assert len(SLOT_LABELS) == 53
    assert len(ROUTED_INTENTS) == 20


def test_the_papers_question_is_written_as_the_paper_has_it() -> None:
    made = nemo_files([GOLDEN])
    side = "test" if is_for_test(GOLDEN.text) else "train"
    other = "train" if side == "test" else "test"
    assert made[f"{side}.tsv"] == "sentence\tlabel\nwhere can i get the best pasta\t1\n"
    assert made[f"{side}_slots.tsv"] == "19 52 52 24 25 16 6\n"
    assert (made[f"{other}.tsv"], made[f"{other}_slots.tsv"]) == ("sentence\tlabel\n", "")


@pytest.mark.parametrize("expected", PAPER)
def test_the_papers_rows_of_slots(expected: str) -> None:
    tags = tuple(PAPER[expected].split())
    line = LabelledLine(" ".join(f"w{number}" for number in range(len(tags))), "price_check", tags)
    made = nemo_files([line])
    assert f"{expected}\n" in (made["train_slots.tsv"], made["test_slots.tsv"])


def test_a_line_is_on_one_side_and_its_slots_on_the_same_row() -> None:
    lines = [LabelledLine(f"price of item {number}", "price_check", ("O", "O", "O", "O")) for number in range(200)]
    made = nemo_files([*lines, *lines])
    train, test = (made[f"{side}.tsv"].splitlines()[1:] for side in ("train", "test"))
    assert len(train) + len(test) == 200
    assert 20 <= len(test) <= 60
    assert not set(train) & set(test)
    assert len(made["train_slots.tsv"].splitlines()) == len(train)


def test_further_intents_come_after_the_papers_three() -> None:
    snow = LabelledLine("will it snow", "weather.snow_yes_no", ("O", "O", "O"))
    assert nemo_files([snow])["dict.intents.csv"] == "price_check\nfind_the_store\nunknown\nweather.snow_yes_no\n"
    everything = nemo_files([snow], all_intents=True)["dict.intents.csv"].splitlines()
    assert everything == list(ALL_INTENTS)
    assert everything[:3] == ["price_check", "find_the_store", "unknown"]


def test_only_lines_whose_labels_can_be_told_from_them_are_taken() -> None:
    assert labelled_line(row(), {}) == LabelledLine("milk price", "price_check", ("B-item.type", "O"))
    assert labelled_line(row(intent="store_location"), {}) == LabelledLine(
        "milk price", "find_the_store", ("B-item.type", "O")
    )
    strange: list[dict[str, Any]] = [
        {"intent_score": 0.0},  # the answer to a question
        {"input": ""},
        {"input": "milk", "tags": ["B-item.type", "O"]},  # masked afterwards
        {"tags": ["B-nothing", "O"]},
        {"intent": "an intent of the author's"},
    ]
    assert [labelled_line(row(**fields), {}) for fields in strange] == [None] * len(strange)
    corrected = labelled_line(row(intent_score=0.0), {"c/1": {"intent": "inventory_check"}})
    assert corrected is not None
    assert corrected.intent == "inventory_check"
    mended = labelled_line(row(tags=[]), {"c/1": {"slots": '["O","O"]'}})
    assert mended == LabelledLine("milk price", "price_check", ("O", "O"))
    assert labelled_line(row(), {"c/1": {"slots": "no tags"}}) is None
    assert labelled_line(row(input="milk\t \nprice"), {}) == LabelledLine(
        "milk price", "price_check", ("B-item.type", "O")
    )


def test_what_reviewers_say_of_a_turn_counts(database: Database) -> None:
    """Not what they say of the sentence: the intents of calls and those of the assistant are different ones."""
    events: list[Event] = [
        state("c", "live"),
        sentence("c", 1000, text="milk price"),
        turn("c", 1, "milk price", intent="price_check", intent_score=0.5, tags=("B-item.type", "O")),
    ]
    ann, bob = Viewer("ann", "analyst"), Viewer("bob", "analyst")
    with database.begin() as session:
        EventBatch((event, STARTED) for event in events).write(session)
        add_label(session, "c/0/1000", "intent", "payment", at=STARTED)
        names = turn_names(session)
        correct_turn(session, ann, "c/1", "intent", "price_check", names=names)
        correct_turn(session, bob, "c/1", "intent", "inventory_check", names=names)
        correct_turn(session, bob, "c/1", "slots", '["O","B-item.type"]', names=names)
    with database.session() as session:
        (turns,) = between(session, HOUSE, STARTED, STARTED + 60)
        corrected = corrected_turns(session, turns)
        assert corrected == {"c/1": {"intent": "inventory_check", "slots": '["O","B-item.type"]'}}
        assert labelled_line(turns[0], corrected) == LabelledLine("milk price", "inventory_check", ("O", "B-item.type"))


def test_turns_of_a_stretch_come_in_order_piece_by_piece(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    from storage.queries import turns as module

    monkeypatch.setattr(module, "PIECE", 3)
    events = [turn(call, number, f"line {number}") for call in ("b", "a") for number in range(5)]
    with database.begin() as session:
        EventBatch((event, STARTED) for event in events).write(session)
    with database.session() as session:
        pieces = [[(one.turn, one.call) for one in some] for some in between(session, HOUSE, STARTED, STARTED + 4)]
    assert [len(piece) for piece in pieces] == [3, 3, 2]
    assert [one for piece in pieces for one in piece] == [(number, call) for number in range(4) for call in "ab"]


def test_the_table_has_a_row_for_each_turn() -> None:
    priced = looked_up("prices", {"item": "jeans"}, {"items": []})
    told = [
        row(turn=0, input="", intent="", intent_score=0.0, replies=[{"text": "Hi."}]),
        row(
            input='=cmd|"x"', intent="store_location", slots={"item": "jeans"}, state="main_flow.input_intent",
            actions=[{"name": priced.name, "arguments": priced.arguments, "result": priced.result, "error": ""}],
            replies=[{"text": "One."}, {"text": "Two, and\nthree."}],
        ),
    ]  # fmt: skip
    text = turn_table(told)
    assert text.startswith("call,turn,time,input,intent,score,slots,state,actions,replies\r\n")
    assert text.split("\r\n")[1] == "c,0,2023-11-14T22:13:20.000Z,,,0.0,,,,Hi."
    header, _, second = csv.reader(io.StringIO(text))
    cells = dict(zip(header, second, strict=True))
    assert cells == {
        "call": "c", "turn": "1", "time": "2023-11-14T22:13:20.000Z", "input": "'=cmd|\"x\"",
        "intent": "find_the_store", "score": "0.9", "slots": '{"item":"jeans"}', "state": "main_flow.input_intent",
        "actions": '[{"name":"prices","arguments":{"item":"jeans"},"result":{"items":[]},"error":""}]',
        "replies": "One. Two, and\nthree.",
    }  # fmt: skip
