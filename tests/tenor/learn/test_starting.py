"""What a training starts from: the model in force, where the recipe can go on with it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from asr.local.stt.engines.whisper_folder import packaged_folder
from finetune.export.whisper_export import write_manifest
from finetune.recipes.base import NEMO_FILE, Paused, find_recipe
from storage.db.engine import Database, using
from storage.registry.registry import ModelVersion, Registry
from storage.runs import runs
from storage.runs.folders import run_folder
from storage.tables import Run
from storage.viewer import Viewer
from tenor.errors import BadInput
from tenor.learn.starting import StartingModel, starting_model
from tenor.model_store.shipped import SHIPPED
from tenor.settings import Settings
from tests.asr.local.stt.engines.tone_model import FOLDER as TONES
from tests.tenor.learn import test_training
from tests.tenor.learn.test_training import train

ANN = Viewer("ann", "analyst")
settings = test_training.settings


@pytest.fixture
def database(settings: Settings) -> Iterator[Database]:
    with using(settings) as opened:
        yield opened


@pytest.fixture
def registry(settings: Settings, database: Database) -> Registry:
    return Registry(database, settings.models_folder)


def in_force(registry: Registry, source: Path, name: str, **origin: str) -> ModelVersion:
    version = registry.add(ANN, source, name=name, kind="speech", origin=origin)
    registry.promote(ANN, version.id, "better", force=True)
    return version


def start(settings: Settings, registry: Registry, recipe: str, *values: str) -> StartingModel:
    return starting_model(settings, registry, find_recipe(recipe), values)


def test_a_recogniser_starts_from_the_one_in_force(settings: Settings, registry: Registry) -> None:
    assert start(settings, registry, "whisper") == StartingModel(SHIPPED["speech"].id)
    house = in_force(registry, packaged_folder(), "house")
    assert start(settings, registry, "whisper") == StartingModel("house-1", str(registry.path(house)))
    assert start(settings, registry, "whisper", "model=elsewhere") == StartingModel("")
    assert start(settings, registry, "nemo") == StartingModel("")  # which cannot go on with Whisper's
    assert start(settings, registry, "head") == StartingModel(SHIPPED["language"].id)


def test_nemo_starts_from_the_file_of_the_run_that_made_the_one_in_force(
    settings: Settings, registry: Registry, tmp_path: Path
) -> None:
    shutil.copytree(TONES, tmp_path / "model")
    write_manifest(tmp_path / "model", {"name": "nemo-tuned", "version": "1", "kind": "speech"})
    in_force(registry, tmp_path / "model", "tones", run="7")
    with pytest.raises(BadInput, match="not on this machine") as told:
        start(settings, registry, "nemo")
    assert "--set model=FILE.nemo" in told.value.hint
    run = run_folder(settings, 7)
    shutil.copytree(tmp_path / "model", run / "model")
    (run / NEMO_FILE).write_bytes(b"NeMo's own")
    assert start(settings, registry, "nemo") == StartingModel("tones-1", str(run / NEMO_FILE))
    assert start(settings, registry, "whisper") == StartingModel(SHIPPED["speech"].id)
    card = msgspec.json.decode((run / "model" / "model.json").read_bytes())
    card["files"]["model.onnx"] = "of another model"  # a bundle of another site may name a run that is ours, too
    (run / "model" / "model.json").write_bytes(msgspec.json.encode(card))
    with pytest.raises(BadInput, match="not on this machine"):
        start(settings, registry, "nemo")


def test_a_run_records_its_start_and_keeps_to_it_when_it_goes_on(
    settings: Settings, database: Database, registry: Registry, tmp_path: Path
) -> None:
    first = train(settings, database, name="house")
    registry.promote(ANN, first.model, "better", force=True)
    with pytest.raises(Paused):
        train(settings, database, values=["pause_at=2"])
    second = train(settings, database, name="house")
    registry.promote(ANN, second.model, "better", force=True)
    resumed = train(settings, database, resume=2)
    with database.session() as session:
        parents = [runs.find(session, number).run.parent for number in (1, 2, 3)]
    assert parents == [SHIPPED["language"].id, "house-1", "house-1"]
    assert registry.version(resumed.model).row.parent == "house-1"  # type: ignore[union-attr]


def test_a_run_of_a_recipe_that_has_changed_is_not_gone_on_with(settings: Settings, database: Database) -> None:
    train(settings, database)
    with database.begin() as session:
        session.get(Run, 1).parameters = {"steps": "many"}  # type: ignore[union-attr]
    with pytest.raises(BadInput, match="another version of the recipe"):
        train(settings, database, resume=1)
