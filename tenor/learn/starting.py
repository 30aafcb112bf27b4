"""Which model a training starts from: the one in force, where the recipe can go on with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from finetune.recipes.base import MODEL, NEMO_FILE, Recipe, kind_of_recipe
from storage.registry.registry import ModelVersion, Registry
from storage.runs.folders import run_folder
from tenor.errors import BadInput
from tenor.model_store import read_card
from tenor.model_store.shipped import SHIPPED
from tenor.settings import Settings

PARAMETER = "model"
"""Of a recipe: what it starts from. Empty: what ships, or a new model."""
NETWORK = "model.onnx"


@dataclass(frozen=True, slots=True)
class StartingModel:
    id: str
    """As runs say it; empty: a model of no version of the registry, or a new one."""
    value: str = ""
    """What the recipe is told."""


def starting_model(settings: Settings, registry: Registry, recipe: Recipe, values: Sequence[str]) -> StartingModel:
    """The model in force, unless `values` name another."""
    if any(value.partition("=")[0].strip() == PARAMETER for value in values):
        return StartingModel("")
    champion = registry.champion(kind_of_recipe(recipe))
    takes_model = PARAMETER in {field.name for field in msgspec.structs.fields(recipe.parameters)}
    if recipe.name == "nemo":
        return _nemo(settings, registry, champion)
    if champion.ships or not takes_model:
        return StartingModel(champion.id)
    folder = registry.path(champion)
    if recipe.name == "whisper" and not (folder / "model.bin").is_file():  # one of NeMo
        return StartingModel(SHIPPED["speech"].id)
    return StartingModel(champion.id, str(folder))


def _nemo(settings: Settings, registry: Registry, champion: ModelVersion) -> StartingModel:
    """NeMo goes on from its own file, which holds pickles and so stays with the run that made it."""
    if champion.ships or not (registry.path(champion) / NETWORK).is_file():
        return StartingModel("")
    made = _run_of(settings, registry, champion)
    if made is None or not (made / NEMO_FILE).is_file():
        raise BadInput(
            f"{champion.id} is in force, and its {NEMO_FILE} is not on this machine",
            f"name the file with --set {PARAMETER}=FILE.nemo; `--set {PARAMETER}=` makes a new model",
        )
    return StartingModel(champion.id, str(made / NEMO_FILE))


def _run_of(settings: Settings, registry: Registry, champion: ModelVersion) -> Path | None:
    """The folder of the run that made just this model; a bundle of another site may name a number that is ours, too."""
    number = champion.row.run if champion.row else ""
    if not number.isdigit():
        return None
    folder = run_folder(settings, int(number))
    try:
        made = read_card(folder / MODEL)
    except BadInput:
        return None
    return folder if made.files.get(NETWORK) == read_card(registry.path(champion)).files.get(NETWORK) else None
