"""The recipe `nemo`: NeMo builds, trains, saves, restores, transcribes and exports. Speech is made of tones, one for
each letter (tests/asr/local/stt/engines/tone_model.py), which a small network learns in a minute."""

from __future__ import annotations

import hashlib
import json
import os
import signal
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import soundfile

from asr.local.stt.engines.base import RATE, DecodeOptions
from asr.local.stt.engines.ctc import CtcEngine
from asr.local.stt.engines.ctc_features import FeatureExtractor
from asr.local.stt.engines.ctc_folder import WORD_START, read_description
from finetune.recipes.base import NEMO_FILE, JsonlRunRecord, Paused, TrainingRow, find_recipe, read_parameters
from finetune.recipes.nemo import nemo_texts
from finetune.train.nemo.manifest import plain_text
from tenor.errors import BadInput, Unavailable
from tests.asr.local.stt.engines.tone_model import tones

needs_nemo = pytest.mark.skipif(find_spec("nemo") is None, reason="NeMo is not installed")
WORDS = ("hello", "road", "whole", "deal", "arrow", "lead")
QUICK = {"layers": 1, "width": 48, "batch": 8, "threads": 2, "noise_share": 0, "spec_augment": "false", "dropout": 0}


def make_rows(folder: Path, count: int = 72) -> list[TrainingRow]:
    random = Random(5)
    rows = []
    for number in range(count):
        text = " ".join(random.choices(WORDS, k=random.randint(1, 2)))
        sound = tones(text)
        path = folder / f"{number}.wav"
        soundfile.write(path, sound, RATE)
        ms = len(sound) * 1000 // RATE
        rows.append(
            TrainingRow(
                id=str(number),
                text=text.capitalize() + ".",
                audio=str(path),
                end_ms=ms,
                split="val" if number % 6 == 0 else "train",
            )
        )
    return rows


def run(rows: list[TrainingRow], out: Path, record: Any = None, **settings: Any) -> Path:
    recipe = find_recipe("nemo")
    given = [f"{name}={value}" for name, value in {**QUICK, **settings}.items()]
    return recipe.run(rows, read_parameters(recipe, "", given), out, record or JsonlRunRecord(out / "record.jsonl"))


def points(out: Path, name: str) -> list[float]:
    lines = map(json.loads, (out / "record.jsonl").read_text().splitlines())
    return [line["value"] for line in lines if line.get("name") == name]


def served(folder: Path, row: TrainingRow) -> str:
    samples, _ = soundfile.read(row.audio, dtype="float32")
    found = CtcEngine(folder).decode(samples, DecodeOptions())
    return " ".join(word.text for word in found[0].words) if found else ""


def restored_texts(out: Path, rows: list[TrainingRow]) -> list[str]:
    """What NeMo itself writes, with the model restored from its file."""
    from nemo.collections.asr.models import ASRModel

    model = ASRModel.restore_from(str(out / NEMO_FILE), map_location="cpu")
    return nemo_texts(model, [Path(row.audio or "") for row in rows])


# -- what needs no NeMo


def test_words_are_written_as_ctc_models_write_them() -> None:
    assert plain_text("Well, I'd like 2 of them — please!") == "well i'd like two of them please"


@pytest.mark.skipif(find_spec("nemo") is not None, reason="NeMo is installed")
def test_without_nemo_it_is_told_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="NeMo is not installed") as told:
        run([], tmp_path)
    assert told.value.hint


# -- NeMo at work


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[TrainingRow]:
    return make_rows(tmp_path_factory.mktemp("tones"))


@pytest.fixture(scope="module")
def trained(rows: list[TrainingRow], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Conformer that was built and taught characters."""
    out = tmp_path_factory.mktemp("built")
    run(rows, out, epochs=36, encoder_rate=2e-3, decoder_rate=5e-3, validate_every=12)
    return out


@needs_nemo
@pytest.mark.nemo
@pytest.mark.timeout(1800)
def test_a_new_model_learns_and_is_served_exactly_as_nemo_hears(trained: Path, rows: list[TrainingRow]) -> None:
    losses, errors = points(trained, "loss"), points(trained, "val_wer")
    assert losses[-1] < losses[0] / 4
    assert errors[-1] < 0.5
    heard = [row for row in rows if row.split == "val"]
    texts = [served(trained / "model", row) for row in heard]
    assert any(texts)
    assert texts == restored_texts(trained, heard)
    assert not list(trained.glob("data-*"))  # voices do not outlive the run


@needs_nemo
@pytest.mark.nemo
@pytest.mark.timeout(1800)
def test_the_front_end_and_the_onnx_file_answer_as_torch_does(trained: Path, rows: list[TrainingRow]) -> None:
    import torch
    from nemo.collections.asr.models import ASRModel

    model = ASRModel.restore_from(str(trained / NEMO_FILE), map_location="cpu").eval()
    engine = CtcEngine(trained / "model")
    extractor = FeatureExtractor(read_description(trained / "model").front_end)
    for row in rows[:3]:
        samples, _ = soundfile.read(row.audio, dtype="float32")
        signal, length = torch.from_numpy(samples)[None], torch.tensor([len(samples)])
        with torch.no_grad():
            theirs, frames = model.preprocessor(input_signal=signal, length=length)
            answer, answered, _ = model.forward(input_signal=signal, input_signal_length=length)
        ours, heard = extractor.features(samples)
        assert heard == int(frames[0])
        assert np.abs(ours[:, :heard] - theirs[0, :, :heard].numpy()).max() < 2e-3
        own = engine._log_probabilities(samples)
        assert own.shape[0] == int(answered[0])
        assert np.abs(own - answer[0, : len(own)].numpy()).max() < 2e-3


@needs_nemo
@pytest.mark.nemo
@pytest.mark.timeout(1800)
def test_a_file_is_fine_tuned_with_pieces_of_words_instead_of_letters(
    trained: Path, rows: list[TrainingRow], tmp_path: Path
) -> None:
    settings = {"model": trained / NEMO_FILE, "vocabulary": "bpe", "pieces": 24, "epochs": 24, "decoder_rate": 1e-2}
    run(rows, tmp_path, encoder_rate=1e-3, validate_every=8, **settings)
    tokens = read_description(tmp_path / "model").tokens
    assert any(token.startswith(WORD_START) and len(token) > 2 for token in tokens)
    assert points(tmp_path, "val_loss")[-1] < points(tmp_path, "val_loss")[0]
    heard = [row for row in rows if row.split == "val"][:4]
    texts = [served(tmp_path / "model", row) for row in heard]
    assert any(texts)
    assert texts == restored_texts(tmp_path, heard)
    card = json.loads((tmp_path / "model" / "model.json").read_text())
    assert (card["kind"], card["parent"]) == ("speech", NEMO_FILE)


@needs_nemo
@pytest.mark.nemo
@pytest.mark.timeout(1800)
def test_a_run_that_was_stopped_ends_as_an_undisturbed_one(
    trained: Path, rows: list[TrainingRow], tmp_path: Path
) -> None:
    settings = {"model": trained / NEMO_FILE, "epochs": 1, "spec_augment": "true"}
    whole = run(rows, tmp_path / "whole", **settings)

    class Stopping(JsonlRunRecord):
        def point(self, step: int, name: str, value: float) -> None:
            if (step, name) == (3, "loss"):
                os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(Paused) as paused:
        run(rows, tmp_path / "stopped", Stopping(tmp_path / "stopped.jsonl"), **settings)
    assert paused.value.exit_code == 75
    resumed = run(rows, tmp_path / "stopped", **settings)
    hashes = [hashlib.sha256((folder / "model.onnx").read_bytes()).hexdigest() for folder in (whole, resumed)]
    assert hashes[0] == hashes[1]


@needs_nemo
@pytest.mark.nemo
@pytest.mark.parametrize(
    ("start", "count", "told"),
    [("nowhere.nemo", 72, "there is no file"), (__file__, 72, "cannot be restored"), ("", 12, "at least 20")],
)
def test_what_cannot_be_trained_is_told(
    rows: list[TrainingRow], tmp_path: Path, start: str, count: int, told: str
) -> None:
    with pytest.raises(BadInput, match=told):
        run(rows[:count], tmp_path, model=start)
