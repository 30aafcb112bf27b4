"""A language model on the shared encoder's states."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path

import numpy as np
import pytest

from nlp.inference.assistant.assistant_model import AssistantModel
from nlp.inference.backend import open_local
from nlp.inference.models.language_model import open_model
from nlp.inference.models.layered_model import HEADS, LayeredModel, encoded_sentences, together
from nlp.inference.models.token_encoder import EncodedText, TokenEncoder, shared_encoder
from nlp.inference.types import SentenceContext
from tenor.errors import BadInput
from tenor.settings import LanguageSettings
from tests.nlp.inference.models.layered import SLOTS, write_layered

SENTIMENTS = ("negative", "neutral", "positive")
TEXT = "please call me back on friday"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("models") / "small-1"
    return write_layered(place, {"sentiment": SENTIMENTS, "intent": ("balance", "refund", "unknown")})


@pytest.fixture(scope="module")
def model(folder: Path) -> LayeredModel:
    return LayeredModel(folder)


def test_a_text_gets_probabilities_of_every_head_and_a_vector(model: LayeredModel) -> None:
    [found] = model.predict([TEXT])
    assert {head: len(likely) for head, likely in found.sentence.items()} == {"sentiment": 3, "intent": 3}
    assert found.sentence["sentiment"].sum() == pytest.approx(1.0, abs=1e-5)
    assert found.tokens["slots"].shape == (len(found.offsets), len(SLOTS))
    assert [TEXT[start:end] for start, end in found.offsets if start < end] == TEXT.split()
    assert np.linalg.norm(found.embedding) == pytest.approx(1.0, abs=1e-5)


def test_who_speaks_and_what_was_said_before_are_told_and_nothing_told_is_nothing(model: LayeredModel) -> None:
    contexts = [
        SentenceContext(),
        SentenceContext("caller"),
        SentenceContext("agent"),
        SentenceContext("agent", "your claim was denied"),
        SentenceContext("speaker 3"),
    ]
    plain, caller, agent, after, stranger = (one.sentence["sentiment"] for one in model.predict([TEXT] * 5, contexts))
    [alone] = model.predict([TEXT])
    np.testing.assert_allclose(plain, alone.sentence["sentiment"], atol=1e-6)
    np.testing.assert_allclose(stranger, plain, atol=1e-6)
    assert len({round(float(one[0]), 6) for one in (plain, caller, agent, after)}) == 4


def test_a_sentence_is_read_alike_alone_and_beside_others(model: LayeredModel) -> None:
    texts = ["yes", TEXT, "i would like to know why this has taken three weeks and four calls", "no"]
    contexts = [SentenceContext("agent", before) for before in (None, *texts[:-1])]
    together_ = model.predict(texts, contexts)
    for text, context, one in zip(texts, contexts, together_, strict=True):
        [alone] = model.predict([text], [context])
        np.testing.assert_allclose(alone.sentence["sentiment"], one.sentence["sentiment"], atol=1e-5)
        np.testing.assert_allclose(alone.tokens["slots"], one.tokens["slots"], atol=1e-5)


def test_several_threads_answer_alike(folder: Path, model: LayeredModel) -> None:
    texts = [f"please pay {number} dollars" for number in range(80)]
    for one, other in zip(LayeredModel(folder, threads=2).predict(texts), model.predict(texts), strict=True):
        np.testing.assert_allclose(one.sentence["intent"], other.sentence["intent"], atol=1e-5)


def test_a_text_that_the_assistant_reads_too_is_encoded_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = TokenEncoder()
    encoded: list[str] = []
    encode = encoder._encoded

    def counted(texts: Sequence[str], readers: Executor | None) -> dict[str, EncodedText]:
        encoded.extend(texts)
        return encode(texts, readers)

    monkeypatch.setattr(encoder, "_encoded", counted)
    LayeredModel(folder, encoder).predict(
        ["hello there", TEXT], [SentenceContext(), SentenceContext("", "hello there")]
    )
    AssistantModel(encoder=encoder).read([TEXT])
    assert encoded == ["hello there", TEXT]


def test_a_long_sentence_before_counts_with_its_end() -> None:
    [one] = encoded_sentences(shared_encoder(), ["yes"], [SentenceContext("", "no " * 90)])
    assert len(one) == len(one.text.states) + 32
    assert together([one])["segments"][0].tolist() == [0] * len(one.text.states) + [3] * 32


def test_the_settings_may_name_it(folder: Path) -> None:
    backend = open_local(LanguageSettings(model=str(folder)))
    [found] = backend.analyze(["my name is [person]"], [SentenceContext("agent", "is that [person]?")])
    assert found.sentiment in SENTIMENTS
    assert backend.versions["intent"].startswith("small-1@")
    assert isinstance(open_model(folder), LayeredModel)


def test_a_file_that_was_changed_is_refused(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in folder.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    (copy / HEADS).write_bytes((copy / HEADS).read_bytes() + b" ")
    with pytest.raises(BadInput, match=r"heads.npz is not the file"):
        LayeredModel(copy)


def _with_heads(folder: Path, copy: Path, stored: bytes) -> Path:
    import hashlib

    copy.mkdir()
    (copy / "model.onnx").symlink_to(folder / "model.onnx")
    (copy / HEADS).write_bytes(stored)
    card = json.loads((folder / "model.json").read_text())
    card["files"][HEADS] = hashlib.sha256(stored).hexdigest()
    (copy / "model.json").write_text(json.dumps(card))
    return copy


def test_heads_that_are_none_are_refused_and_nothing_in_them_is_run(folder: Path, tmp_path: Path) -> None:
    class Hostile:
        def __reduce__(self) -> tuple[object, ...]:
            return Path(tmp_path / "ran").touch, ()

    np.savez(tmp_path / "pickled.npz", **{"intent.bias": np.array([Hostile()], object)})  # type: ignore[arg-type]
    for number, stored in enumerate(
        [b"", b"nonsense", pickle.dumps(Hostile()), (tmp_path / "pickled.npz").read_bytes()]
    ):
        with pytest.raises(BadInput, match="holds no heads"):
            LayeredModel(_with_heads(folder, tmp_path / str(number), stored))
    assert not (tmp_path / "ran").exists()


def test_a_model_for_another_encoder_is_refused(folder: Path, tmp_path: Path) -> None:
    copy = _with_heads(folder, tmp_path / "other", (folder / HEADS).read_bytes())
    card = json.loads((copy / "model.json").read_text())
    (copy / "model.json").write_text(json.dumps(card | {"encoder_sha256": "0" * 64}))
    with pytest.raises(BadInput, match="was not made for the encoder"):
        LayeredModel(copy)
