"""Names and places that only meaning tells, found by the head on the encoder's lower layers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from nlp.inference.name_finder import CARD, DEFAULT, GRAPH, NameFinder
from tenor.errors import BadInput
from tenor.redaction import KINDS
from tenor.redaction.patterns import PatternRedactor
from tests.tenor.redaction.test_interims import shown_too_soon

FINDER = NameFinder()
REDACTOR = PatternRedactor(KINDS, FINDER)

NAMED = [
    ("Thanks Beatrix, have a great day.", "Thanks [person], have a great day."),
    ("hi rupert i'm calling about my order", "hi [person] i'm calling about my order"),
    ("I spoke to Yolanda Fitzpatrick last week.", "I spoke to [person] last week."),
    ("my wife genevieve is also on the account", "my wife [person] is also on the account"),
    ("can i speak to mister ostrowski please", "can i speak to mister [person] please"),
    ("please send it to Humphrey", "please send it to [person]"),
    ("Marguerite, can you hear me?", "[person], can you hear me?"),
    ("Sure I can help you with that, Leopold.", "Sure I can help you with that, [person]."),
    ("I'm Rosalind.", "I'm [person]."),
    ("Kate Middleton-Jones", "[person]"),
    ("Mohammed Al-Rashid", "[person]"),
    ("this is DeShawn Washington", "this is [person]"),
    ("Nguyen Van Thanh", "[person]"),
    ("Harper Valley, California.", "[address]."),
    ("it's four nineteen willow bend road in cheltenham", "it's [address] in [address]"),
]


@pytest.mark.parametrize(("said", "kept"), NAMED)
def test_names_are_taken_out(said: str, kept: str) -> None:
    assert REDACTOR.redact(said, ()).text == kept


@pytest.mark.parametrize(
    "said",
    [
        "Hello, this is Harper Valley National Bank.",
        "How can I help you today?",
        "I would like to transfer money between my accounts.",
        "The router keeps rebooting and the firmware is out of date.",
        "Is there a branch in Boston?",
        "Will it arrive in May?",
        "I can mark it as paid.",
        "One hundred and eleven dollars has been transferred.",
        "",
        "...",
        "🙂 🙂",
    ],
)
def test_ordinary_talk_stays(said: str) -> None:
    assert REDACTOR.redact(said, ()).text == said


@pytest.mark.parametrize("said", [said for said, _ in NAMED])
def test_an_interim_never_shows_what_the_final_hides(said: str) -> None:
    assert shown_too_soon(REDACTOR, said) == []


def test_nothing_is_too_long_to_be_read() -> None:
    said = "i was told that it would come this week and " * 40 + "then i spoke to bartholomew about it"
    assert REDACTOR.redact(said, ()).text.endswith("then i spoke to [person] about it")
    assert list(FINDER.find("x" * 100_000, final=True)) == []


def test_the_same_text_is_always_redacted_alike() -> None:
    again = PatternRedactor(KINDS, NameFinder())
    for said, _ in NAMED:
        assert REDACTOR.redact(said, ()) == again.redact(said, ())


def test_the_head_is_small_and_has_none_of_the_encoders_weights() -> None:
    assert (DEFAULT / GRAPH).stat().st_size < 600_000


def test_nine_of_ten_names_are_found_in_sentences_that_do_not_announce_them() -> None:
    names = [
        "Beatrix",
        "Rupert",
        "Genevieve",
        "Humphrey",
        "Marguerite",
        "Leopold",
        "Rosalind",
        "Dmitri",
        "Anjali",
        "Kwame",
    ]
    sentences = [
        "I spoke to {} last week about the refund.",
        "can you put {} on the line please",
        "Thanks {}, that is all I needed.",
        "the parcel was signed for by {} this morning",
    ]
    said = [(name, sentence.format(name)) for name in names for sentence in sentences]
    said += [(name.lower(), sentence.lower()) for name, sentence in said]
    missed = [sentence for name, sentence in said if name in REDACTOR.redact(sentence, ()).text]
    assert len(missed) <= len(said) // 10, missed


@pytest.mark.parametrize("damage", ["head", "encoder", "missing", "card"])
def test_a_broken_model_is_told(tmp_path: Path, damage: str) -> None:
    folder = tmp_path / "model"
    shutil.copytree(DEFAULT, folder)
    match damage:
        case "head":
            (folder / GRAPH).write_bytes((folder / GRAPH).read_bytes() + b" ")
        case "encoder":
            (folder / "model.onnx").write_bytes(b"nothing")
        case "missing":
            (folder / GRAPH).unlink()
        case "card":
            (folder / CARD).write_text(json.dumps({"labels": 3}))
    with pytest.raises(BadInput):
        NameFinder(folder)
