"""The recipe that needs nothing but what `make install` gives: it trains here."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from finetune.corpus.examples import LanguageExample
from finetune.export.language_folder import child_card
from finetune.recipes.base import (
    EXAMPLE,
    JsonlRunRecord,
    Paused,
    TrainingRow,
    find_recipe,
    newest_checkpoint,
    read_parameters,
    stoppable,
)
from finetune.recipes.head import HeadParameters, HeadProblem, PooledVectors, learned_head
from finetune.recipes.language_rows import learned_examples
from nlp.inference.heads.intents import IntentHead
from nlp.inference.models.golden import language_answers
from nlp.inference.models.language_model import DEFAULT
from nlp.inference.models.layered_model import HEADS, LayeredModel
from nlp.inference.models.onnx_model import fingerprint
from nlp.inference.types import SentenceContext
from tenor.errors import BadInput
from tenor.model_store import read_card
from tenor.taxonomy.intents import Taxonomy, WantedIntent
from tests.finetune.recipes.rows import company_rows
from tests.nlp.inference.models.layered import write_layered

START = {"sentiment": ("negative", "neutral", "positive"), "intent": ("refund", "balance", "unknown")}


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_layered(tmp_path_factory.mktemp("models") / "small-1", START)
    np.savez_compressed(folder / "weights.npz", **{"layers.0.x": np.zeros(3, np.float16)})  # type: ignore[arg-type]
    return folder


def run(start: Path, out: Path, rows: list[TrainingRow], **values: Any) -> Path:
    parameters = HeadParameters(model=str(start), **({"replay": 0, "epochs": 60} | values))
    return find_recipe("head").run(rows, parameters, out, JsonlRunRecord(out / "record.jsonl"))


def points(out: Path) -> dict[str, float]:
    lines = [json.loads(line) for line in (out / "record.jsonl").read_text().splitlines()]
    return {line["name"]: line["value"] for line in lines if "name" in line}


def digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def trained(start: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run")
    assert run(start, out, company_rows()) == out / "model"
    return out


def test_labels_that_the_model_lacked_are_answered(trained: Path) -> None:
    model = LayeredModel(trained / "model")
    assert model.card.heads["intent"] == (*START["intent"], "kayak_rental")
    assert model.card.heads["sentiment"] == (*START["sentiment"], "seasick")
    texts = ["could we rent the yellow kayak", "the waves made me ill and dizzy", "please give my money back"]
    contexts = [SentenceContext("caller")] * 3
    found = model.predict(texts, contexts)
    intents = [model.card.heads["intent"][int(one.sentence["intent"].argmax())] for one in found]
    feelings = [model.card.heads["sentiment"][int(one.sentence["sentiment"].argmax())] for one in found]
    assert (intents[0], intents[2], feelings[1]) == ("kayak_rental", "refund", "seasick")


def test_the_record_tells_losses_and_how_well_it_does_on_rows_kept_apart(trained: Path) -> None:
    told = points(trained)
    assert told["val intent accuracy"] >= 0.9
    assert told["val sentiment macro-F1"] >= 0.9
    assert told["intent loss"] < 0.5


def test_the_card_says_what_it_began_as_and_its_golden_answers_are_its_own(trained: Path) -> None:
    card = read_card(trained / "model")
    assert (card.name, card.parent, card.kind) == ("house", "small-1", "language")
    files = digests(trained / "model")
    assert card.files == {name: files[name] for name in ("model.onnx", HEADS, "weights.npz", "golden.jsonl")}
    model = LayeredModel(trained / "model")
    lines = [json.loads(line) for line in (trained / "model" / "golden.jsonl").read_text().splitlines()]
    assert len(lines) == 10
    assert language_answers(model, [line["text"] for line in lines]) == [line["answers"] for line in lines]
    said = {row.text for row in company_rows()}
    assert not said & {line["text"] for line in lines}, "what callers said does not belong into a model's folder"


def test_the_weights_to_go_on_from_have_the_new_heads(trained: Path) -> None:
    with np.load(trained / "model" / "weights.npz") as weights:
        assert weights["sentence_heads.intent.weight"].shape == (4, 768)
        assert weights["layers.0.x"].shape == (3,)


def test_the_same_rows_and_seed_give_the_same_files(start: Path, trained: Path, tmp_path: Path) -> None:
    run(start, tmp_path, company_rows())
    assert digests(tmp_path / "model") == digests(trained / "model")


@pytest.mark.slow
def test_a_run_that_is_stopped_goes_on_and_comes_to_the_same_model(
    start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("finetune.recipes.head.AT_ONCE", 16)
    undisturbed = run(start, tmp_path / "undisturbed", company_rows())
    read = LayeredModel.pooled
    asked: list[int] = []

    def interrupted(self: LayeredModel, texts: Any, contexts: Any = ()) -> Any:
        asked.append(len(texts))
        if len(asked) == 3:
            os.kill(os.getpid(), signal.SIGTERM)
        return read(self, texts, contexts)

    monkeypatch.setattr(LayeredModel, "pooled", interrupted)
    out = tmp_path / "stopped"
    with pytest.raises(Paused) as stopped:
        run(start, out, company_rows())
    assert stopped.value.exit_code == 75
    assert newest_checkpoint(out, ".npz") is not None
    assert not (out / "model").exists()
    resumed = run(start, out, company_rows())
    assert sum(asked) == len(company_rows())  # nothing was read twice
    assert digests(resumed) == digests(undisturbed)


def test_our_own_sentences_are_learned_again_beside_the_rows(start: Path, tmp_path: Path) -> None:
    run(start, tmp_path, company_rows(), replay=60, epochs=2)
    notes = [json.loads(line).get("note", "") for line in (tmp_path / "record.jsonl").read_text().splitlines()]
    assert any(re.match(r"small-1 with 75 rows and \d\d of our own sentences", note) for note in notes)


def test_without_marked_rows_a_share_of_the_groups_is_kept_apart(start: Path, tmp_path: Path) -> None:
    run(start, tmp_path, company_rows(split=False), validation_share=0.4)
    assert "val intent accuracy" in points(tmp_path)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([], "no row to train on"),
        ([TrainingRow(id="1", text="hello")], "no row to train on"),
        ([TrainingRow(id=str(n), text=f"no {n}", intent="refund") for n in range(5)], "every intent .* is 'refund'"),
        ([TrainingRow(id="1", text="a", intent="refund", split="test")], "no row to train on"),
    ],
)
def test_rows_that_teach_nothing_are_refused(start: Path, tmp_path: Path, rows: list[TrainingRow], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        run(start, tmp_path, rows, validation_share=0.0)


def test_a_model_with_an_encoder_of_its_own_cannot_be_trained_further(tmp_path: Path) -> None:
    card = msgspec.structs.replace(read_card(DEFAULT), encoder_sha256="")
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "model.json").write_bytes(msgspec.json.encode(card))
    with pytest.raises(BadInput, match="encoder of its own"):
        run(tmp_path / "old", tmp_path, company_rows())


def test_the_papers_preset() -> None:
    found = read_parameters(find_recipe("head"), "papers")
    assert (found.batch, found.epochs, found.validation_share) == (128, 10, 0.2)


def test_vectors_of_another_model_are_not_taken_from_a_checkpoint(start: Path, tmp_path: Path) -> None:
    from finetune.corpus.examples import LanguageExample
    from finetune.recipes.base import StopRequest

    record = JsonlRunRecord(tmp_path / "record.jsonl")
    first = PooledVectors(LayeredModel(start), tmp_path, record, StopRequest())
    before = first.read([LanguageExample("hello")])
    first.save()
    other = LayeredModel(write_layered(tmp_path / "other", START, seed=2))
    other.card = msgspec.structs.replace(other.card, sha256="1" * 64)
    again = PooledVectors(other, tmp_path, record, StopRequest())
    assert not again._known
    np.testing.assert_allclose(again.read([LanguageExample("hello")]), before, atol=1e-5)


def test_a_label_of_ones_own_is_learned_from_few_rows_beside_many(tmp_path: Path) -> None:
    """Drawn to nothing as strongly as the others are to the deployed head, it would never be answered."""
    chance = np.random.default_rng(3)
    rows = [LanguageExample("", {"intent": (("refund", "balance")[at % 2],)}) for at in range(1500)]
    rows += [LanguageExample("", {"intent": ("kayak_rental",)}) for _ in range(12)]
    vectors = chance.normal(size=(len(rows), 8)).astype(np.float32)
    vectors[:1500:2, 0] += 3
    vectors[1:1500:2, 0] -= 3
    vectors[1500:, 1] += 6
    deployed = np.zeros((2, 8), np.float32), np.zeros(2, np.float32)
    deployed[0][:, 0] = 1, -1
    record = JsonlRunRecord(tmp_path / "record.jsonl")
    problem = HeadProblem("intent", ("refund", "balance", "kayak_rental"), rows, vectors)
    found = {}
    with stoppable() as stop:
        for l2_new in (HeadParameters().l2, HeadParameters().l2_new):
            made = learned_head(problem, deployed, HeadParameters(l2_new=l2_new), record, stop)
            found[l2_new] = problem.answers(made, vectors[1500:]).count("kayak_rental")
    assert found[HeadParameters().l2_new] >= 9, found
    assert found[HeadParameters().l2] <= 2, found


def test_sentences_of_the_file_of_intents_are_compared_until_a_model_has_other_vectors(
    start: Path, tmp_path: Path
) -> None:
    said, added = "we would like to paddle to the lighthouse", "is there a boat for three"
    example = TrainingRow(id="1", text=said, intent="kayak_rental", origin={EXAMPLE: "kayak_rental"})
    model = LayeredModel(run(start, tmp_path, [*company_rows(), example]))
    file = Taxonomy((WantedIntent("refund", "", ()), WantedIntent("kayak_rental", "", (said,))))
    assert IntentHead(model, file).compares
    model.card = child_card(model.card, model.card.heads, learned_examples([*company_rows(), example]))
    assert model.card.examples == read_card(start).examples | {fingerprint(said)}
    assert not IntentHead(model, file).compares
    more = Taxonomy((WantedIntent("refund", "", ()), WantedIntent("kayak_rental", "", (said, added))))
    assert IntentHead(model, more).compares
