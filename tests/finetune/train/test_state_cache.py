"""The encoder's states in a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from finetune.train.state_cache import StateCache
from nlp.inference.models.token_encoder import EncodedText, shared_encoder


def test_what_was_encoded_once_is_read_from_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "states.npz"
    first = StateCache(shared_encoder(), path).encode(["hello there", "", "goodbye"])
    assert sorted(first) == ["goodbye", "hello there"]

    def never(texts: object, readers: object = None) -> list[EncodedText]:
        raise AssertionError(texts)

    with monkeypatch.context() as patch:
        patch.setattr(shared_encoder(), "encode", never)
        again = StateCache(shared_encoder(), path).encode(["goodbye"])
    np.testing.assert_array_equal(again["goodbye"].states, first["goodbye"].states)
    assert again["goodbye"].offsets == first["goodbye"].offsets


def test_states_of_another_encoder_are_not_taken(tmp_path: Path) -> None:
    path = tmp_path / "states.npz"
    StateCache(shared_encoder(), path).encode(["hello"])
    stored = dict(np.load(path))
    np.savez(path, **(stored | {"encoder": np.array("0" * 64)}))
    assert not StateCache(shared_encoder(), path)._kept
