"""The recipe `whisper`. What trains needs torch and is skipped without it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import soundfile

from asr.local.stt.engines.base import DecodeOptions
from asr.local.stt.engines.mel import filters, spectrogram
from asr.local.stt.engines.whisper import WhisperEngine
from asr.local.stt.engines.whisper_folder import checked_folder, packaged_folder
from finetune.export.whisper_export import export_int8, export_whisper
from finetune.recipes.base import JsonlRunRecord, Paused, TrainingRow, find_recipe, read_parameters, stoppable
from finetune.train.whisper import model_file, preparation, segments
from finetune.train.whisper.windows import Piece, WindowPlan
from tenor.errors import BadInput, Unavailable

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
CALL = Path(__file__).parents[3] / "examples" / "calls" / "lost-card.ogg"


@pytest.fixture
def rows(tmp_path: Path) -> list[TrainingRow]:
    """A sample call, cut every three seconds. What is said there does not matter here."""
    samples, rate = soundfile.read(CALL, dtype="int16", always_2d=True)
    soundfile.write(tmp_path / "call.wav", samples, rate)
    return [
        TrainingRow(
            id=str(start),
            text="hello i think i lost my bank card",
            audio=str(tmp_path / "call.wav"),
            start_ms=start,
            end_ms=start + 2500,
            split="train" if start < 63_000 else "val",
        )
        for start in range(0, 69_000, 3000)
    ]


@pytest.fixture
def record(tmp_path: Path) -> JsonlRunRecord:
    return JsonlRunRecord(tmp_path / "run.jsonl")


def points(tmp_path: Path, name: str) -> dict[int, float]:
    lines = map(json.loads, (tmp_path / "run.jsonl").read_text().splitlines())
    return {line["step"]: line["value"] for line in lines if line.get("name") == name}


def run(rows: list[TrainingRow], out: Path, record: Any, **settings: Any) -> Path:
    recipe = find_recipe("whisper")
    quick = {"steps": 3, "batch": 1, "threads": 1, "least_match": 0, "checkpoint_every": 1, "validate_every": 3}
    given = [f"{name}={value}" for name, value in {**quick, **settings}.items()]
    return recipe.run(rows, read_parameters(recipe, "", given), out, record)


def test_too_little_to_learn_from_is_told(rows: list[TrainingRow], record: JsonlRunRecord, tmp_path: Path) -> None:
    with pytest.raises((BadInput, Unavailable)) as told:
        run(rows[:5], tmp_path / "out", record)
    assert told.value.hint


@pytest.mark.slow
def test_int8_hears_the_same_from_half_of_the_bytes(tmp_path: Path) -> None:
    packaged = packaged_folder()
    model = model_file.read(packaged / "model.bin")
    whole = export_whisper(packaged, model, tmp_path / "whole", {"name": "house", "version": "1"}, "float16")
    small = export_int8(whole, tmp_path / "small")
    assert (whole / "model.bin").read_bytes() == (packaged / "model.bin").read_bytes()
    assert sum(path.stat().st_size for path in small.iterdir()) < 45_000_000
    samples, _ = soundfile.read(CALL, dtype="float32")
    heard = []
    for folder in (whole, small):
        engine = WhisperEngine(folder, window_s=15.0, workers=1)
        heard.append(engine.decode(np.ascontiguousarray(samples[: 16_000 * 8, 1]), DecodeOptions(word_times=True)))
        engine.close()
    assert heard[0]
    assert heard[0] == heard[1]
    with pytest.raises(BadInput, match="is the model itself"):
        export_int8(whole, whole)


@pytest.mark.slow
def test_who_is_asked_to_stop_while_listening_stops_after_the_window(rows: list[TrainingRow]) -> None:
    heard = segments.from_rows(rows).segments
    plans = [WindowPlan((Piece((at,), one.start_ms, one.end_ms),), 15.0, joint=False) for at, one in enumerate(heard)]
    with stoppable() as stop:
        done = []

        def on_done() -> None:
            done.append(1)
            os.kill(os.getpid(), signal.SIGTERM)

        with pytest.raises(Paused) as paused:
            preparation.decode_windows(None, plans, heard, threads=1, stop=stop, on_done=on_done)
    assert paused.value.exit_code == 75
    assert 1 <= len(done) < len(plans) / 2


@needs_torch
@pytest.mark.train
@pytest.mark.timeout(1800)
def test_two_processes_learn_what_one_learns(rows: list[TrainingRow], tmp_path: Path) -> None:
    lines = tmp_path / "rows.jsonl"
    lines.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    settings = ["steps=3", "batch=3", "threads=1", "least_match=0", "checkpoint_every=1", "validate_every=3"]
    options = [part for setting in settings for part in ("--set", setting)]
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    losses = []
    for name, start in (("one", []), ("two", torchrun)):
        out = tmp_path / name
        command = [sys.executable, *start, "-m", "finetune", "run", "whisper", str(lines), "--out", str(out), *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=1700)
        assert done.returncode == 0, done.stderr
        told = [json.loads(line) for line in (out / "record.jsonl").read_text().splitlines()]
        losses.append({line["step"]: line["value"] for line in told if line.get("name") == "loss"})
        for name in ("val_wer", "val_wer_noisy"):  # before and after, without and with noise
            assert [line["step"] for line in told if line.get("name") == name] == [0, 3]
    assert list(losses[0]) == list(losses[1]) == [1, 2, 3]
    assert max(abs(losses[0][step] - losses[1][step]) for step in losses[0]) < 1e-5


@needs_torch
@pytest.mark.train
@pytest.mark.timeout(1800)
def test_the_network_answers_as_the_server_does() -> None:
    import ctranslate2
    import torch

    from finetune.train.whisper.network import WhisperNetwork

    folder = packaged_folder()
    model = model_file.read(folder / "model.bin")
    network = WhisperNetwork(model).eval()
    assert model_file.to_bytes(model.with_values(network.values())) == (folder / "model.bin").read_bytes()
    samples, _ = soundfile.read(CALL, dtype="float32")
    features = spectrogram(np.ascontiguousarray(samples[: 16_000 * 14, 1]), 1500, filters(80))[None]
    server = ctranslate2.models.Whisper(str(folder), device="cpu", compute_type="float32")
    sound = server.encode(ctranslate2.StorageView.from_array(np.ascontiguousarray(features)))
    start = [50257, 50362]
    said = server.generate(sound, [start], beam_size=1, max_length=40, return_logits_vocab=True)[0]
    theirs = np.array([np.array(one) for one in said.logits[0]])
    with torch.no_grad():
        ours = network(torch.from_numpy(features), torch.tensor([start + said.sequences_ids[0]]))[0, 1:].numpy()
    allowed = np.isfinite(theirs) & (theirs > -1e5)  # the others are suppressed
    assert np.abs(ours[: len(theirs)] - theirs)[allowed].max() < 1e-4


@needs_torch
@pytest.mark.train
@pytest.mark.timeout(1800)
def test_a_run_that_was_stopped_ends_as_an_undisturbed_one(
    rows: list[TrainingRow], record: JsonlRunRecord, tmp_path: Path
) -> None:
    whole = run(rows, tmp_path / "whole", record)
    assert checked_folder(tmp_path / "whole") == whole
    assert set(points(tmp_path, "loss")) == {1, 2, 3}
    assert set(points(tmp_path, "val_wer")) == {0, 3}

    class Stopping(JsonlRunRecord):
        def point(self, step: int, name: str, value: float) -> None:
            if (step, name) == (2, "loss"):
                os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(Paused) as paused:
        run(rows, tmp_path / "stopped", Stopping(tmp_path / "stopped.jsonl"))
    assert paused.value.exit_code == 75
    resumed = run(rows, tmp_path / "stopped", record)
    assert (resumed / "model.bin").read_bytes() == (whole / "model.bin").read_bytes()
    assert (whole / "model.bin").read_bytes() != (packaged_folder() / "model.bin").read_bytes()


@needs_torch
@pytest.mark.train
@pytest.mark.timeout(1800)
def test_a_share_of_the_old_weights_is_kept(rows: list[TrainingRow], record: JsonlRunRecord, tmp_path: Path) -> None:
    name = "decoder/layer_0/ffn/linear_0/weight"

    def weights(folder: Path) -> Any:
        return model_file.read(folder / "model.bin").variables[name].astype(np.float32)

    before, trained = (
        weights(packaged_folder()),
        weights(run(rows, tmp_path / "out", record, rate=0.01, warmup=0, kept=0)),
    )
    assert np.abs(trained - before).max() > 5e-4
    mixed = weights(
        run(rows, tmp_path / "out", record, rate=0.01, warmup=0, kept=0.25)
    )  # goes on after the last step: only written again
    assert np.allclose(mixed, 0.75 * trained + 0.25 * before, atol=1e-3)
    assert np.abs(mixed - trained).max() > 1e-4


@needs_torch
@pytest.mark.train
@pytest.mark.timeout(1800)
def test_int8_weights_are_not_trained_on(rows: list[TrainingRow], record: JsonlRunRecord, tmp_path: Path) -> None:
    small = export_int8(packaged_folder(), tmp_path / "small")
    with pytest.raises(BadInput, match="cannot be trained"):
        run(rows, tmp_path / "out", record, model=small)
