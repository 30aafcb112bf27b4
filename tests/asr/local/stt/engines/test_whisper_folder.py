"""A model's folder is checked before it is loaded: what is missing or damaged is told in two lines."""

from __future__ import annotations

import json
import shutil
from hashlib import sha256
from pathlib import Path

import pytest

from asr.local.stt.engines.whisper import WhisperEngine
from asr.local.stt.engines.whisper_folder import FILES, checked_folder, packaged_folder
from tenor.errors import BadInput


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files and a manifest; the weights are not a model's."""
    for name in FILES:
        (tmp_path / name).write_text(f"this is {name}")
    files = {name: sha256((tmp_path / name).read_bytes()).hexdigest() for name in FILES}
    (tmp_path / "model.json").write_text(json.dumps({"name": "house", "version": "1", "files": files}))
    return tmp_path


def test_a_whole_folder_is_taken_and_a_runs_folder_leads_to_it(folder: Path, tmp_path: Path) -> None:
    assert checked_folder(folder) == folder
    run = tmp_path / "run"
    run.mkdir()
    shutil.copytree(folder, run / "model", ignore=shutil.ignore_patterns("run"))
    assert checked_folder(run) == run / "model"


def test_a_folder_without_a_manifest_is_taken_as_it_is(folder: Path) -> None:
    (folder / "model.json").unlink()
    assert checked_folder(folder) == folder


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("model.bin", "other", "has SHA-256"),
        ("model.bin", None, "there is no model.bin"),
        ("tokenizer.json", None, "there is no tokenizer.json"),
        ("model.json", "{", "damaged"),
        ("model.json", '{"files": {"vocabulary.txt": "00"}}', "vocabulary.txt is missing"),
    ],
)
def test_what_is_damaged_is_told(folder: Path, name: str, text: str | None, told: str) -> None:
    if text is None:
        (folder / name).unlink()
    else:
        (folder / name).write_text(text)
    with pytest.raises(BadInput, match=told) as error:
        checked_folder(folder)
    assert error.value.hint


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is not a folder"):
        checked_folder(tmp_path / "nowhere")


def test_files_that_are_no_model_are_told_when_they_are_loaded(folder: Path) -> None:
    with pytest.raises(BadInput, match="cannot be loaded"):
        WhisperEngine(folder, window_s=15.0, workers=1)


def test_the_packaged_model_is_the_one_that_was_measured() -> None:
    assert {path.name for path in packaged_folder().iterdir()} >= set(FILES)
