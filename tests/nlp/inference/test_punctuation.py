"""Marks and capitals for words that have none."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from nlp.inference.models.token_encoder import shared_encoder
from nlp.inference.punctuation import DEFAULT, Punctuator, shared_punctuator, word_states
from tenor.errors import BadInput


@pytest.fixture(scope="module")
def punctuator() -> Punctuator:
    return shared_punctuator()


@pytest.mark.parametrize(
    "written",
    [
        "Can you prove that you are self aware?",  # NVIDIA's own example
        "I would like to cancel my order.",
        "What is your phone number?",
    ],
)
def test_a_sentence_gets_its_marks_and_capitals(punctuator: Punctuator, written: str) -> None:
    assert punctuator.text(written.lower().rstrip(".?")) == written


def test_several_sentences_are_told_apart(punctuator: Punctuator) -> None:
    found = punctuator.text("thank you for calling how can i help you today")
    assert found == "Thank you for calling. How can I help you today?"


def test_what_has_marks_or_capitals_already_keeps_them(punctuator: Punctuator) -> None:
    found = punctuator.text("the train leaves the station at 09:45 A.M. and NetApp pays $103 today, right?")
    for kept in ("09:45", "A.M.", "NetApp", "$103"):
        assert kept in found.split()
    assert found.startswith("The train")
    assert found.endswith("right?")
    assert punctuator.text(found) == found


def test_every_word_stays_one_word(punctuator: Punctuator) -> None:
    words = ["so", "i", "said", "12:45", "well", "-", "\u20a9111", "x" * 3000, "okay"] * 40
    found = punctuator.words(words)
    assert len(found) == len(words)
    assert [word.strip(".,?").lower() for word in found] == [word.strip(".,?").lower() for word in words]


@pytest.mark.parametrize("text", ["", "   ", "...", "- -"])
def test_nothing_to_punctuate(punctuator: Punctuator, text: str) -> None:
    assert punctuator.text(text) == " ".join(text.split())


def test_long_texts_are_read_in_parts_without_losing_a_word() -> None:
    words = [f"word{number}" for number in range(131)]
    assert word_states(shared_encoder(), words).shape == (131, 768)


@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        ("head.npz", b"nonsense", "is not the file"),
        ("model.json", b"{", "model.json"),
        ("model.json", None, "holds no"),
    ],
)
def test_a_damaged_folder_is_told(tmp_path: Path, file: str, content: bytes | None, told: str) -> None:
    folder = Path(shutil.copytree(DEFAULT, tmp_path / "head"))
    (folder / file).unlink()
    if content is not None:
        (folder / file).write_bytes(content)
    with pytest.raises(BadInput, match=told):
        Punctuator(folder)


def test_a_head_of_another_encoder_is_refused(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(DEFAULT, tmp_path / "head"))
    card = json.loads((folder / "model.json").read_text())
    (folder / "model.json").write_text(json.dumps({**card, "encoder_sha256": "0"}))
    with pytest.raises(BadInput, match="another encoder"):
        Punctuator(folder)


def test_it_is_small_and_says_what_it_reaches() -> None:
    assert sum(path.stat().st_size for path in DEFAULT.iterdir()) < 1_000_000
    figures = json.loads((DEFAULT / "model.json").read_text())["figures"]
    assert figures["right mark at the end of a sentence"] > 90
