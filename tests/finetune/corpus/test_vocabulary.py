"""Words outside the vocabulary: which rows they cost, and that this is listed."""

from __future__ import annotations

from pathlib import Path

import pytest

from finetune.corpus.vocabulary import common_words, read_vocabulary, within_vocabulary, words_of
from finetune.recipes.base import TrainingRow
from tenor.errors import BadInput

TEXTS = ["My card is lost.", "my crad is lost", "Where's my card? [noise]", "my 2 cards", "the flurb is lost, my flurb"]
ROWS = [TrainingRow(id=str(n), text=text) for n, text in enumerate(TEXTS)]


def test_rows_with_other_words_are_left_out_and_listed(tmp_path: Path) -> None:
    file = tmp_path / "words.txt"
    file.write_text("# ours\nmy card cards is lost\nwhere's the\n")
    found = within_vocabulary(ROWS, read_vocabulary(file))
    assert [row.id for row in found.rows] == ["0", "2", "3"]
    assert found.dropped == ("1", "4")
    assert found.words == {"crad": 1, "flurb": 1}
    assert "crad (1), flurb (1)" in found.listed
    assert "crad" not in found.summary


def test_rare_words_are_taken_for_mistakes() -> None:
    allowed = common_words(ROWS, 2)
    assert allowed == {"my", "card", "is", "lost"}
    assert [row.id for row in within_vocabulary(ROWS, allowed).rows] == ["0"]


def test_what_judges_a_model_is_never_filtered() -> None:
    rows = [TrainingRow(id=split, text="flurb", split=split) for split in ("train", "val", "test", "holdout")]
    assert [row.id for row in within_vocabulary(rows, {"card"}).rows] == ["test", "holdout"]


def test_words() -> None:
    assert words_of("I'd like 2 crêpes, [laughter] don\u2019t I") == ["i'd", "like", "crêpes", "don't", "i"]


@pytest.mark.parametrize("content", [b"", b"# nothing\n", b"12 34\n", b"\xff\xfe"])
def test_lists_that_are_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "words.txt").write_bytes(content)
    with pytest.raises(BadInput):
        read_vocabulary(tmp_path / "words.txt")
    with pytest.raises(BadInput, match="cannot be read"):
        read_vocabulary(tmp_path / "nowhere.txt")
