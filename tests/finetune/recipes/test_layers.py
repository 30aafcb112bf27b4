"""Recipes that train a network: they need what `make train-test` installs."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from finetune.recipes.base import JsonlRunRecord, TrainingRow, find_recipe, read_parameters
from nlp.inference.models.layered_model import LayeredModel
from nlp.inference.models.token_encoder import shared_encoder
from nlp.inference.types import SentenceContext
from tenor.errors import BadInput
from tenor.model_store import ModelCard
from tests.finetune.recipes.rows import company_rows, write_rows
from tests.nlp.inference.models.layered import SLOTS

pytestmark = [
    pytest.mark.train,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(
        any(find_spec(name) is None for name in ("torch", "transformers", "onnx")), reason="training is not installed"
    ),
]
HEADS = {"sentiment": ("negative", "neutral", "positive"), "intent": ("refund", "balance", "unknown"), "slots": SLOTS}
QUICK = ["replay=30", "epochs=6", "layer_rate=1e-3", "head_rate=5e-3", "threads=1", "checkpoint_every=2"]


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with one narrow layer, which nothing was taught."""
    import torch
    from transformers import BertConfig
    from transformers.models.bert.modeling_bert import BertLayer

    from finetune.export.language_export import export_language
    from finetune.recipes.language_rows import examples
    from finetune.train.language_layers import LanguageLayers

    torch.manual_seed(3)
    config = BertConfig(
        hidden_size=384, num_attention_heads=12, intermediate_size=64, attn_implementation="eager",
        attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    network = LanguageLayers([BertLayer(config)], 384, {"sentiment": 3, "intent": 3}, {"slots": len(SLOTS)})
    folder = tmp_path_factory.mktemp("models") / "narrow-1"
    card = ModelCard(name="narrow", version="1", heads={})
    return export_language(network.eval(), HEADS, card, examples(company_rows()), shared_encoder(), folder)


def run(start: Path, out: Path, *settings: str, rows: list[TrainingRow] | None = None, name: str = "layers") -> Path:
    recipe = find_recipe(name)
    parameters = read_parameters(recipe, settings=[f"model={start}", *QUICK, *settings])
    return recipe.run(rows or company_rows(), parameters, out, JsonlRunRecord(out / "record.jsonl"))


def digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def losses(out: Path) -> dict[int, float]:
    lines = [json.loads(line) for line in (out / "record.jsonl").read_text().splitlines()]
    return {line["step"]: line["value"] for line in lines if line.get("name") == "loss"}


@pytest.fixture(scope="module")
def trained(start: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run")
    run(start, out)
    return out


def test_a_model_learns_labels_of_its_own_and_ships_as_int8(trained: Path) -> None:
    model = LayeredModel(trained / "model")
    assert (model.card.name, model.card.parent) == ("house", "narrow-1")
    assert model.card.heads["intent"][-1] == "kayak_rental"
    rows = [row for row in company_rows() if row.split == "val"]
    found = model.predict([row.text for row in rows], [SentenceContext(row.role) for row in rows])
    right = [
        row.intent == model.card.heads["intent"][int(one.sentence["intent"].argmax())]
        for row, one in zip(rows, found, strict=True)
        if row.intent
    ]
    assert sum(right) / len(right) >= 0.8


def test_the_weights_beside_it_are_those_of_the_model(trained: Path) -> None:
    import torch

    from finetune.export.language_export import read_weights
    from nlp.inference.models.layered_model import together

    model = LayeredModel(trained / "model")
    network = read_weights(trained / "model" / "weights.npz").eval()
    batch = together(model.encode(["i would like to rent a canoe", "yes"], [SentenceContext("agent", "hello")] * 2))
    with torch.no_grad():
        pooled, _, _ = network.read(*(torch.from_numpy(values) for values in batch.values()))
    small = model.pooled(["i would like to rent a canoe", "yes"], [SentenceContext("agent", "hello")] * 2)
    cosine = (pooled.numpy() * small).sum(1) / np.linalg.norm(pooled.numpy(), axis=1) / np.linalg.norm(small, axis=1)
    assert cosine.min() > 0.99


def test_the_same_rows_and_seed_give_the_same_files(start: Path, trained: Path, tmp_path: Path) -> None:
    run(start, tmp_path)
    assert digests(tmp_path / "model") == digests(trained / "model")


def test_a_run_that_is_stopped_by_sigterm_exits_with_75_and_goes_on(start: Path, trained: Path, tmp_path: Path) -> None:
    command = _command(start, write_rows(tmp_path / "rows.jsonl"), tmp_path / "out")
    process = subprocess.Popen([sys.executable, *command], stderr=subprocess.DEVNULL)
    record = tmp_path / "out" / "record.jsonl"
    until = time.monotonic() + 240
    while time.monotonic() < until and not (record.is_file() and '"loss"' in record.read_text()):
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGTERM)
    assert process.wait(120) == 75
    subprocess.run([sys.executable, *command], check=True, capture_output=True, timeout=1700)
    assert digests(tmp_path / "out" / "model") == digests(trained / "model")


def test_two_processes_learn_what_one_learns(start: Path, tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl")
    one, two = tmp_path / "one", tmp_path / "two"
    alone = [sys.executable, *_command(start, rows, one, "dropout=0")]
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    both = [*torchrun, *_command(start, rows, two, "dropout=0")]
    for command in (alone, both):
        done = subprocess.run(command, capture_output=True, text=True, timeout=1700)
        assert done.returncode == 0, done.stderr
    first, second = losses(one), losses(two)
    assert list(first) == list(second)
    assert max(abs(first[step] - second[step]) for step in first) < 1e-5


def test_mixed_precision_is_recorded(start: Path, tmp_path: Path) -> None:
    run(start, tmp_path, "precision=bfloat16", "epochs=1")
    [line] = [line for line in (tmp_path / "record.jsonl").read_text().splitlines() if "parameters" in line]
    assert json.loads(line)["parameters"]["precision"] == "bfloat16"


def test_a_model_without_training_weights_is_refused(start: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    for name in ("model.onnx", "heads.npz", "model.json"):
        (bare / name).write_bytes((start / name).read_bytes())
    with pytest.raises(BadInput, match="no training weights"):
        run(bare, tmp_path)
    (bare / "weights.npz").write_bytes(b"nonsense")
    with pytest.raises(BadInput, match="holds no training weights"):
        run(bare, tmp_path)


def _command(start: Path, rows: Path, out: Path, *settings: str) -> list[str]:
    values = [part for setting in (f"model={start}", *QUICK, *settings) for part in ("--set", setting)]
    return ["-m", "finetune", "run", "layers", str(rows), "--out", str(out), *values]


# -- the assistant's

ASKED = {
    "store.kayak_rental": "where do i rent [kayak]",
    "store_location": "where is the nearest [kayak] shop",
}


def _turns() -> list[TrainingRow]:
    found: list[TrainingRow] = []
    for number, thing in enumerate(("kayak", "canoe", "raft", "dinghy", "paddleboard", "tandem") * 2):
        for intent, form in ASKED.items():
            text = form.replace("[kayak]", thing)
            tags = tuple("B-boat.kind" if word == thing else "O" for word in text.split())
            split: Any = "val" if number % 6 == 5 else "train"
            found.append(TrainingRow(id=str(len(found)), text=text, intent=intent, tags=tags, split=split))
    return found


def test_the_assistant_goes_on_from_its_int8_weights() -> None:
    import torch

    from finetune.export.dequantize import float_weights
    from finetune.train.assistant_layers import AssistantLayers
    from nlp.inference.assistant.assistant_model import DEFAULT, AssistantModel

    model = AssistantModel()
    network = AssistantLayers.from_weights(float_weights(DEFAULT / "model.onnx")).eval()
    texts = ["where can i get the best pasta", "thank you so much", "how much is the red one"]
    for text, parsed in zip(texts, model.read(texts), strict=True):
        [encoded] = model.encoder.encode([text])
        with torch.no_grad():
            intent, _, _ = network(torch.from_numpy(encoded.states)[None], torch.ones(1, len(encoded.states)).long())
        likely = torch.softmax(intent[0] / model.card.temperature, 0)
        assert model.card.intents[int(likely.argmax())] == parsed.ranking[0][0]
        assert float(likely.max()) == pytest.approx(parsed.ranking[0][1], abs=0.03)


def test_an_intent_and_a_slot_of_ones_own_in_one_model(tmp_path: Path) -> None:
    from nlp.inference.assistant.assistant_model import DEFAULT, AssistantModel

    settings = ("epochs=25", "replay=40", "layer_rate=3e-4", "head_rate=3e-3", "validate_every=5")
    folder = run(DEFAULT, tmp_path, *settings, rows=_turns(), name="intent-slot")
    model = AssistantModel(folder)
    [found] = model.read(["where do i rent tandem"])
    assert found.intent == "store.kayak_rental"
    assert "boat.kind" in {slot["slot"] for slot in found.slots}
    validated = [
        json.loads(line)["step"]
        for line in (tmp_path / "record.jsonl").read_text().splitlines()
        if '"val intent accuracy"' in line
    ]
    assert len(validated) == 5


def test_the_papers_preset_of_intent_and_slots() -> None:
    assert read_parameters(find_recipe("intent-slot"), "papers").epochs == 50
    assert read_parameters(find_recipe("layers"), "papers-33").workers == 4
