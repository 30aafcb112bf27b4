"""A model's file is read and written without changing a byte; damaged ones are told."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from asr.local.stt.engines.whisper_folder import packaged_folder
from finetune.train.whisper import model_file
from finetune.train.whisper.model_file import ModelFile
from tenor.errors import BadInput


@pytest.fixture
def small() -> ModelFile:
    random = np.random.default_rng(1)
    weight = random.standard_normal((6, 4)).astype("<f2")
    weight[2] = 0
    return ModelFile(
        "WhisperSpec",
        3,
        {
            "decoder/alibi": np.array(0, np.int8),
            "decoder/embeddings/weight": weight,
            "decoder/layer_norm/beta": random.standard_normal(4).astype("<f2"),
            "encoder/conv1/weight": random.standard_normal((2, 3, 3)).astype("<f2"),
        },
        {"decoder/projection/weight": "decoder/embeddings/weight"},
    )


def test_the_packaged_model_read_and_written_is_the_same_file() -> None:
    path = packaged_folder() / "model.bin"
    written = model_file.to_bytes(model_file.read(path))
    assert hashlib.sha256(written).digest() == hashlib.sha256(path.read_bytes()).digest()


def test_new_values_take_the_places_and_types_of_the_old(small: ModelFile, tmp_path: Path) -> None:
    beta = np.array([1, 2, 3, 4], np.float32)
    (tmp_path / "model.bin").write_bytes(model_file.to_bytes(small.with_values({"decoder/layer_norm/beta": beta})))
    found = model_file.read(tmp_path / "model.bin")
    assert found.variables["decoder/layer_norm/beta"].dtype == np.float16
    assert found.variables["decoder/layer_norm/beta"].tolist() == [1, 2, 3, 4]
    assert len(model_file.to_bytes(found)) == len(model_file.to_bytes(small))
    with pytest.raises(ValueError, match=r"has shape \(4,\)"):
        small.with_values({"decoder/layer_norm/beta": beta[:2]})


def test_int8_is_within_half_a_step_and_leaves_vectors_and_convolutions(small: ModelFile) -> None:
    quantised = small.quantised()
    weight, scale = (quantised.variables[f"decoder/embeddings/weight{part}"] for part in ("", "_scale"))
    assert weight.dtype == np.int8
    assert (
        np.abs(weight / scale[:, None] - small.variables["decoder/embeddings/weight"]) <= 0.501 / scale[:, None]
    ).all()
    assert np.isfinite(scale).all()
    assert quantised.aliases["decoder/projection/weight_scale"] == "decoder/embeddings/weight_scale"
    assert quantised.variables["encoder/conv1/weight"].dtype == np.float16


@pytest.mark.parametrize("fault", ["half", "longer", "version", "text", "empty"])
def test_a_damaged_file_is_told_in_two_lines(small: ModelFile, tmp_path: Path, fault: str) -> None:
    whole = model_file.to_bytes(small)
    broken = {
        "half": whole[: len(whole) // 2],
        "longer": whole + b"!",
        "version": b"\x07" + whole[1:],
        "text": b"this is not a model at all, it is a text",
        "empty": b"",
    }[fault]
    (tmp_path / "model.bin").write_bytes(broken)
    with pytest.raises(BadInput, match="not a whole model") as told:
        model_file.read(tmp_path / "model.bin")
    assert told.value.hint


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        model_file.read(tmp_path / "model.bin")
