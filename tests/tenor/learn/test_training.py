"""A run: what it leaves behind, however it ends. The recipe is this test's own, found by its import path."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pytest

from finetune.recipes.base import MODEL, Paused, RunRecord, TrainingRow, new_checkpoint, newest_checkpoint, stoppable
from storage.datasets.importing import import_dataset
from storage.db.engine import Database, using
from storage.registry.registry import Registry
from storage.runs import runs
from storage.runs.folders import run_folder
from storage.transfer.nemo import LabelledLine, nemo_files
from storage.viewer import Viewer
from tenor.errors import BadInput, Refused
from tenor.learn import GridResult, finetune, finetune_grid
from tenor.model_store.card import CARD
from tenor.settings import Settings
from tests.storage.datasets.material import manifest, tone

ANN = Viewer("ann", "analyst")
RECIPE = "tests.tenor.learn.test_training:CountingRecipe"


class CountingParameters(msgspec.Struct, frozen=True, kw_only=True):
    steps: Annotated[int, msgspec.Meta(ge=1, description="How far to count.")] = 5
    fail_at: int = 0
    pause_at: int = 0


class CountingRecipe:
    """Counts, as a training would, and leaves what looks like a language model."""

    name = "counting"
    parameters = CountingParameters
    presets: Mapping[str, Mapping[str, Any]] = {"long": {"steps": 50}}

    def run(self, rows: Sequence[TrainingRow], parameters: CountingParameters, out: Path, record: RunRecord) -> Path:
        before = newest_checkpoint(out, ".txt")
        begin = int(before.read_text()) + 1 if before else 1
        with stoppable():
            for step in range(begin, parameters.steps + 1):
                if step == parameters.fail_at:
                    raise ZeroDivisionError("as recipes of one's own do")
                record.point(step, "loss", 1 / step)
                with new_checkpoint(out, step, ".txt") as path:
                    path.write_text(str(step))
                if step == parameters.pause_at and begin == 1:
                    raise Paused("somebody wanted the machine back")
        folder = out / MODEL
        folder.mkdir(exist_ok=True)
        (folder / "model.onnx").write_bytes(b"\x08\x01" + str(len(rows)).encode())
        card = {"name": "x", "version": "1", "heads": {"intent": sorted({row.intent for row in rows if row.intent})}}
        (folder / CARD).write_bytes(msgspec.json.encode(card))
        return folder


@pytest.fixture
def settings(sqlite_settings: Settings, tmp_path: Path) -> Settings:
    """With a dataset of forty sentences."""
    lines = [
        LabelledLine(f"please {verb} order {n}", verb, ("O",) * 4)
        for n in range(20)
        for verb in ("price_check", "unknown")
    ]
    folder = tmp_path / "nemo"
    folder.mkdir()
    for name, content in nemo_files(lines).items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    import_dataset(sqlite_settings, folder, "orders", by="ann")
    return sqlite_settings


@pytest.fixture
def database(settings: Settings) -> Iterator[Database]:
    with using(settings) as opened:
        yield opened


def train(settings: Settings, database: Database, viewer: Viewer = ANN, **more: Any) -> Any:
    return finetune(settings, database, viewer, "orders@1", **{"recipe": RECIPE, **more})


def test_a_model_becomes_a_candidate_that_says_where_it_comes_from(settings: Settings, database: Database) -> None:
    made = train(settings, database)
    version = Registry(database, settings.models_folder).version(made.model)
    assert (version.id, version.state) == ("orders-1", "candidate")
    assert version.row is not None
    assert (version.row.dataset, version.row.run) == ("orders@1", str(made.run))
    with database.session() as session:
        found = runs.find(session, made.run)
    assert (found.state, found.run.model, found.run.recipe) == ("done", "orders-1", RECIPE)
    assert found.run.dataset_sha256
    assert found.run.parameters["steps"] == 5
    assert (run_folder(settings, made.run) / "record.jsonl").read_text().count('"loss"') == 5


def test_out_writes_past_the_registry(settings: Settings, database: Database, tmp_path: Path) -> None:
    made = train(settings, database, out=tmp_path / "mine")
    assert (tmp_path / "mine" / CARD).exists()
    assert made.model == ""
    with pytest.raises(BadInput, match="there already"):
        train(settings, database, out=tmp_path / "mine")


def test_parameters_beat_the_preset_and_a_misspelt_one_is_named(settings: Settings, database: Database) -> None:
    made = train(settings, database, preset="long", values=["steps=3"])
    with database.session() as session:
        assert runs.find(session, made.run).run.parameters["steps"] == 3
    with pytest.raises(BadInput, match="did you mean 'steps'"):
        train(settings, database, values=["stepps=3"])
    with pytest.raises(BadInput, match="steps"):
        train(settings, database, values=["steps=0"])


def test_a_recipe_that_raises_is_named_and_its_run_says_so(settings: Settings, database: Database) -> None:
    with pytest.raises(BadInput, match="ZeroDivisionError") as told:
        train(settings, database, values=["fail_at=3"])
    place = run_folder(settings, 1) / "record.jsonl"
    assert str(place) in told.value.hint
    assert "test_training.py" in place.read_text()
    with database.session() as session:
        [found] = runs.listing(session)
    assert found.state == "failed"
    assert "ZeroDivisionError" in found.run.error
    assert len(Registry(database, settings.models_folder).versions("language")) == 1  # what ships


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([{"intent": "cancel", "split": "train"}, {"intent": "cancel", "split": "train"}], "every row .* is 'cancel'"),
        ([{"intent": "cancel", "split": "train"}, {"intent": "refund", "split": "test"}], "of calls that are measured"),
        ([{"intent": "cancel"}, {"intent": "Screen Shot 7.53.png"}], r"Screen Shot 7\.53\.png is not in force"),
        ([{"intent": "cancel", "split": "test"}, {"intent": "refund", "split": "test"}], "no row to train with"),
    ],
    ids=["one class", "leak", "foreign label", "nothing to train with"],
)
def test_what_the_check_refuses_is_not_trained_with(
    settings: Settings, database: Database, tmp_path: Path, lines: list[dict[str, str]], said: str
) -> None:
    """Two sentences of one recording, which is one call."""
    tone(tmp_path / "set" / "call.wav")
    said_when = ({"text": f"sentence number {n}", "offset": n / 2, "duration": 0.4} for n in range(2))
    about = {"audio_filepath": "call.wav"}
    manifest(tmp_path / "set" / "m.json", [about | said | line for said, line in zip(said_when, lines, strict=True)])
    import_dataset(settings, tmp_path / "set", "odd", by="ann")
    with pytest.raises(BadInput, match=said) as refused:
        finetune(settings, database, ANN, "odd", recipe=RECIPE)
    assert "tenor dataset check odd@1" in refused.value.hint
    with database.session() as session:
        assert runs.listing(session) == []


def test_a_paused_run_goes_on_where_it_stopped(settings: Settings, database: Database) -> None:
    with pytest.raises(Paused):
        train(settings, database, values=["pause_at=3"])
    with database.session() as session:
        [found] = runs.listing(session)
    assert found.state == "paused"
    made = train(settings, database, values=["pause_at=3"], resume=found.id)
    with database.session() as session:
        [curve] = runs.curves(session, made.run)
        assert runs.find(session, made.run).state == "done"
    assert curve.steps == (1, 2, 3, 4, 5)


def test_rows_with_words_outside_the_vocabulary_are_not_learned_from(
    settings: Settings, database: Database, tmp_path: Path
) -> None:
    """Of twenty orders to check a price none may be learned from; a run that is resumed keeps to the same words."""
    words = tmp_path / "words.txt"
    words.write_text("please unknown order\n")
    with pytest.raises(Paused):
        train(settings, database, vocabulary=words, values=["pause_at=2"])
    made = train(settings, database, resume=1, values=["pause_at=2"])
    assert made.left_out is not None
    assert {"price", "check"} == set(made.left_out.words)
    assert "left out" in (run_folder(settings, made.run) / "record.jsonl").read_text()
    assert train(settings, database).left_out is None
    assert train(settings, database, rare=2).left_out.dropped == ()
    words.write_text("nothing of this\n")
    with pytest.raises(BadInput, match="no row is left"):
        train(settings, database, vocabulary=words)
    with database.session() as session:
        assert {one.state for one in runs.listing(session)} == {"done"}


def test_who_may_train(settings: Settings, database: Database) -> None:
    with pytest.raises(Refused):
        train(settings, database, Viewer("max", "manager"))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"recipe": "haed"}, "did you mean 'head'"),
        ({"recipe": "nowhere.at:All"}, "no module"),
        ({"recipe": "tests.tenor.learn.test_training:Nothing"}, "has no 'Nothing'"),
        ({"recipe": "tests.tenor.learn.test_training:CountingParameters"}, "has no"),
    ],
)
def test_recipes_that_are_none(settings: Settings, database: Database, given: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        train(settings, database, **given)


@pytest.mark.slow
def test_the_command_trains_and_shows_its_runs(settings: Settings) -> None:
    def tenor(*words: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "TENOR_HOME": str(settings.home)}
        return subprocess.run(
            [sys.executable, "-m", "tenor", *words], env=environment, capture_output=True, text=True, timeout=120
        )

    done = tenor("finetune", "orders@1", "--recipe", RECIPE, "--json")
    assert done.returncode == 0, done.stderr
    assert msgspec.json.decode(done.stdout)["model"] == "orders-1"
    [listed] = tenor("runs", "list", "--json").stdout.splitlines()
    assert msgspec.json.decode(listed)["state"] == "done"
    shown = tenor("runs", "show", "1").stdout
    assert "loss" in shown
    assert "e+09" not in shown  # moments are dates
    paused = tenor("finetune", "orders@1", "--recipe", RECIPE, "--set", "pause_at=2")
    assert paused.returncode == 75, paused.stderr
    assert tenor("finetune", "--resume", "2").returncode == 0
    assert tenor("runs", "compare", "1").returncode == 2
    assert "pause_at" in tenor("runs", "compare", "1", "2").stdout
    assert tenor("finetune", "nothing@1").returncode == 2
    assert "How far to count" in tenor("finetune", "--recipe", RECIPE, "--parameters").stdout


class ScoringRecipe(CountingRecipe):
    """Says how well it does on validation: best in the middle."""

    def run(self, rows: Sequence[TrainingRow], parameters: CountingParameters, out: Path, record: RunRecord) -> Path:
        made = super().run(rows, parameters, out, record)
        record.point(parameters.steps, "val accuracy", 1 - abs(parameters.steps - 4) / 10)
        return made


def test_a_grid_trains_every_combination_once_and_names_the_best(settings: Settings, database: Database) -> None:
    def tried(*grid: str) -> GridResult:
        return finetune_grid(
            settings, database, ANN, "orders@1", grid, recipe=f"{RECIPE.partition(':')[0]}:{ScoringRecipe.__name__}"
        )

    found = tried("steps=2,4,6", "pause_at=0")
    assert [one.values for one in found.runs] == [{"steps": n, "pause_at": "0"} for n in ("2", "4", "6")]
    assert found.best is not None
    assert found.best.values["steps"] == "4"
    with database.session() as session:
        assert {runs.find(session, one.run).run.sweep for one in found.runs} == {found.sweep}
    assert tried("steps=2,4,6", "pause_at=0") == found  # nothing is trained again
    assert tried("steps=3").sweep != found.sweep


def test_a_grid_that_was_interrupted_goes_on(settings: Settings, database: Database) -> None:
    grid = ["steps=2,5"]
    with pytest.raises(Paused):
        finetune_grid(settings, database, ANN, "orders@1", grid, recipe=RECIPE, values=["pause_at=3"])
    again = finetune_grid(settings, database, ANN, "orders@1", grid, recipe=RECIPE, values=["pause_at=3"])
    assert [one.run for one in again.runs] == [1, 2]
    assert again.best is None  # it says nothing of validation


def test_a_grid_that_cannot_be_is_told_before_anything_is_trained(settings: Settings, database: Database) -> None:
    for grid, told in {"steps": "NAME=VALUE", "stepps=1,2": "did you mean 'steps'", "steps=3,0": "steps"}.items():
        with pytest.raises(BadInput, match=told):
            finetune_grid(settings, database, ANN, "orders@1", [grid], recipe=RECIPE)
    with pytest.raises(BadInput, match="101 trainings"):
        finetune_grid(
            settings, database, ANN, "orders@1", ["steps=" + ",".join(map(str, range(1, 102)))], recipe=RECIPE
        )
    with database.session() as session:
        assert runs.listing(session) == []
