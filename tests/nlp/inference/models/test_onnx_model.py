"""A model's folder, and what is said when it is not one."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlp.inference.models import token_encoder
from nlp.inference.models.language_model import DEFAULT, open_model
from nlp.inference.models.onnx_model import BATCH_SENTENCES, BATCH_TOKENS, OnnxModel, batched
from tenor.errors import BadInput
from tests.own_encoder_model import own_encoder_model

WORDS = {"please": "polite", "cancel": "cancel", "order": "order"}


def test_a_folder_without_a_model_is_explained(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="holds no language model"):
        OnnxModel(tmp_path)


def test_a_damaged_model_is_not_used(tmp_path: Path) -> None:
    folder = own_encoder_model(tmp_path, WORDS)
    weights = (folder / "model.onnx").read_bytes()
    (folder / "model.onnx").write_bytes(weights[:-1] + b"!")
    with pytest.raises(BadInput, match="not the file"):
        OnnxModel(folder)


def test_what_ships_is_small_and_says_what_it_is() -> None:
    assert open_model().id.startswith(f"{DEFAULT.name}@")
    assert (DEFAULT / "model.onnx").stat().st_size + (token_encoder.DEFAULT / "model.onnx").stat().st_size < 36_000_000
    assert (DEFAULT / "weights.npz").stat().st_size < 14_000_000
    assert "What it learned from" in (DEFAULT / "README.md").read_text("utf-8")


def test_batches_hold_like_lengths_and_are_bounded() -> None:
    lengths = [5, 100, 6, 7, 90] * 20
    made = list(batched(lengths))
    assert sorted(index for batch in made for index in batch) == list(range(100))
    for batch in made:
        assert len(batch) <= BATCH_SENTENCES
        assert len(batch) * lengths[batch[-1]] <= BATCH_TOKENS


def test_batches_side_by_side_say_what_one_after_the_other_say(tmp_path: Path) -> None:
    folder = own_encoder_model(tmp_path, WORDS)
    texts = [f"{'please ' * (number % 40)}cancel order {number}" for number in range(200)]
    alone, beside = OnnxModel(folder).predict(texts), OnnxModel(folder, threads=3).predict(texts)
    for one, other in zip(alone, beside, strict=True):
        assert one.offsets == other.offsets
        assert all((one.sentence[head] == other.sentence[head]).all() for head in one.sentence)
        assert (one.embedding == other.embedding).all()
