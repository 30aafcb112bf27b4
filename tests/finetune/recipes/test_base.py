"""What every recipe has: rows, parameters, a record, a way to be stopped."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pytest

from finetune.recipes import base
from finetune.recipes.base import JsonlRunRecord, RunRecord, TrainingRow, find_recipe, read_parameters, read_rows
from tenor.errors import BadInput


class KnobParameters(msgspec.Struct, frozen=True):
    epochs: Annotated[int, msgspec.Meta(ge=1, description="How often every row is seen.")] = 10
    rate: Annotated[float, msgspec.Meta(gt=0, description="How far a step goes.")] = 1e-5
    amp: Annotated[bool, msgspec.Meta(description="Half precision.")] = False


class KnobRecipe:
    name = "knobs"
    parameters = KnobParameters
    presets: Mapping[str, Mapping[str, Any]] = {"papers": {"epochs": 20}}

    def run(self, rows: Sequence[TrainingRow], parameters: KnobParameters, out: Path, record: RunRecord) -> Path:
        return out


def test_what_is_set_beats_the_preset_and_the_preset_beats_the_default() -> None:
    recipe = find_recipe(f"{__name__}:KnobRecipe")
    assert read_parameters(recipe) == KnobParameters()
    assert read_parameters(recipe, "papers") == KnobParameters(epochs=20)
    assert read_parameters(recipe, "papers", ["epochs=12", "rate=3e-4", "amp=true"]) == KnobParameters(12, 3e-4, True)


@pytest.mark.parametrize(
    ("preset", "settings", "says"),
    [
        ("paper", [], "no preset 'paper'; did you mean 'papers'"),
        ("", ["epoches=10"], "no parameter 'epoches'; did you mean 'epochs'"),
        ("", ["epochs"], "'epochs' is not name=value"),
        ("", ["epochs=0"], ">= 1"),
        ("", ["epochs=many"], "int"),
    ],
)
def test_a_wrong_parameter_is_refused_by_name(preset: str, settings: list[str], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        read_parameters(KnobRecipe(), preset, settings)


def test_every_parameter_can_be_explained() -> None:
    assert next(base.described(KnobRecipe())) == ("epochs", 10, "How often every row is seen.")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("haed", "did you mean 'head'"),
        ("nowhere.at_all:Recipe", "no module 'nowhere'"),
        (f"{__name__}:Missing", "has no 'Missing'"),
        (f"{__name__}:Path", "has no parameters, presets, run"),
    ],
)
def test_a_recipe_that_is_not_there(name: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        find_recipe(name)


def test_rows_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    row = TrainingRow(id="1", text="hello", sentiment="neutral", split="val", origin={"queue": "billing"})
    path.write_bytes(msgspec.json.encode(row) + b'\n\n{"id": "2", "text": "bye", "split": "best"}\n')
    with pytest.raises(BadInput, match=r"line 3: .*best"):
        read_rows(path)
    path.write_bytes(msgspec.json.encode(row))
    assert read_rows(path) == [row]


def test_a_record_is_lines_that_are_there_at_once(tmp_path: Path) -> None:
    record = JsonlRunRecord(tmp_path / "run" / "record.jsonl")
    record.parameters({"epochs": 3})
    record.point(5, "loss", 0.25)
    record.artifact(tmp_path / "model")
    lines = [json.loads(line) for line in (tmp_path / "run" / "record.jsonl").read_text().splitlines()]
    assert lines[0]["parameters"] == {"epochs": 3}
    assert (lines[1]["step"], lines[1]["name"], lines[1]["value"]) == (5, "loss", 0.25)
    record.close()


def test_sigterm_is_told_to_the_run_and_ends_nothing() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with base.stoppable() as stop:
        assert not stop.asked
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.asked
    assert signal.getsignal(signal.SIGTERM) is before
    assert base.Paused("").exit_code == 75


def test_half_a_checkpoint_is_none(tmp_path: Path) -> None:
    with base.new_checkpoint(tmp_path, 5, ".npz") as part:
        part.write_bytes(b"whole")

    def interrupted() -> None:
        with base.new_checkpoint(tmp_path, 10, ".npz") as part:
            part.write_bytes(b"ha")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    newest = base.newest_checkpoint(tmp_path, ".npz")
    assert newest is not None
    assert newest.read_bytes() == b"whole"
    with base.new_checkpoint(tmp_path, 15, ".npz") as part:
        part.write_bytes(b"newer")
    assert [path.name for path in (tmp_path / base.CHECKPOINTS).glob("0*")] == ["000000015.npz"]
