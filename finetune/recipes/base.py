"""What every recipe has: rows to learn from, parameters with presets, the record of its run, a way to be stopped.

A recipe is a class with `name`, `parameters`, `presets` and `run`, found by name or by import path (`module:Class`).
It starts from a model that is deployed and leaves a new model's folder:

    rows, parameters --> recipe.run(rows, parameters, out, record) --> out/model
                                                                       out/checkpoints   the newest is where it resumes
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import current_thread, main_thread
from types import FrameType
from typing import Any, Literal, Protocol

import msgspec

from tenor.errors import BadInput, TenorError, Unavailable
from tenor.model_store.card import KINDS, Kind
from tenor.yaml.nodes import meant

BUILT_IN = {
    "head": "finetune.recipes.head:HeadRecipe",
    "layers": "finetune.recipes.layers:LayersRecipe",
    "intent-slot": "finetune.recipes.intent_slot:IntentSlotRecipe",
    "whisper": "finetune.recipes.whisper:WhisperRecipe",
    "nemo": "finetune.recipes.nemo:NemoRecipe",
}
MODEL, CHECKPOINTS = "model", "checkpoints"
"""Folders below that of a run."""
NEMO_FILE = "model.nemo"
"""Beside a run's model: it holds pickles, so it is no part of what the registry keeps and workers load."""

Split = Literal["train", "val", "test", "holdout"]


EXAMPLE = "example"
"""In the origin of a row: a sentence of the file of intents."""


class TrainingRow(msgspec.Struct, frozen=True, kw_only=True):
    """One labelled sentence, or one stretch of speech with its words."""

    id: str
    call: str = ""
    group: str = ""
    """The customer, or the call where none is known: rows of one group are in one split."""
    text: str
    role: str = ""
    """caller or agent; empty where nobody knows."""
    before: str | None = None
    """The sentence before in the call."""
    sentiment: str | None = None
    intent: str | None = None
    tags: tuple[str, ...] | None = None
    """BIO labels of the words between blanks."""
    audio: str | None = None
    """Path of the decoded recording,"""
    start_ms: int = 0
    end_ms: int = 0
    """and which part of it."""
    weight: float = 1.0
    """How much a mistake counts."""
    split: Split = "train"
    origin: dict[str, str] = {}
    """Queue, site, codec: what figures are told by."""
    recognised: str = ""
    """What a recogniser wrote, of a call in the archive; empty where people wrote the words down."""

    @property
    def written(self) -> bool:
        """Whether the text is people's, and not the recogniser's own."""
        return not self.recognised or self.recognised != self.text


class RunRecord(Protocol):
    """Where a run writes down what it does. It must cost next to nothing."""

    def parameters(self, values: Mapping[str, Any]) -> None: ...

    def point(self, step: int, name: str, value: float) -> None:
        """One point of a curve."""
        ...

    def note(self, text: str) -> None: ...

    def artifact(self, path: Path) -> None: ...


class JsonlRunRecord:
    """A run's record as a file of JSON lines, for whoever runs a recipe without the database."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a", encoding="utf-8", buffering=1)

    def parameters(self, values: Mapping[str, Any]) -> None:
        self._write(parameters=dict(values))

    def point(self, step: int, name: str, value: float) -> None:
        self._write(step=step, name=name, value=value)

    def note(self, text: str) -> None:
        self._write(note=text)

    def artifact(self, path: Path) -> None:
        self._write(artifact=str(path))

    def close(self) -> None:
        self._file.close()

    def _write(self, **values: Any) -> None:
        self._file.write(json.dumps({"at": round(time.time(), 3), **values}, ensure_ascii=False) + "\n")


class Recipe(Protocol):
    """A way to make a model from rows. One that makes no language model says so: `kind = "speech"`, or "assistant"."""

    @property
    def name(self) -> str: ...

    @property
    def parameters(self) -> type[msgspec.Struct]:
        """A frozen Struct: every field has a default, and a description in its `msgspec.Meta`."""
        ...

    @property
    def presets(self) -> Mapping[str, Mapping[str, Any]]:
        """Values by the name of a preset; `default` is what the fields say."""
        ...

    def run(self, rows: Sequence[TrainingRow], parameters: Any, out: Path, record: RunRecord) -> Path:
        """The new model's folder, in `out`. Goes on from the newest checkpoint in `out/checkpoints`."""
        ...


# -- which recipe


def find_recipe(name: str) -> Recipe:
    """By its name, or by `module:Class`."""
    path = BUILT_IN.get(name.replace("_", "-"), name)
    module, colon, attribute = path.partition(":")
    if not colon:
        raise BadInput(f"no recipe is called {name!r}{meant(name, BUILT_IN)}")
    if "" not in sys.path:
        sys.path.insert(0, "")  # a module beside the configuration
    try:
        recipe = getattr(import_module(module), attribute)()
    except ModuleNotFoundError as error:
        raise BadInput(f"recipe {name}: there is no module {error.name!r}") from None
    except AttributeError:
        raise BadInput(f"recipe {name}: module {module!r} has no {attribute!r}") from None
    missing = [one for one in ("name", "parameters", "presets", "run") if not hasattr(recipe, one)]
    if missing:
        raise BadInput(f"recipe {name} has no {', '.join(missing)}", "see finetune/recipes/base.py")
    found: Recipe = recipe
    return found


def kind_of_recipe(recipe: Recipe) -> Kind:
    kind: Kind = getattr(recipe, "kind", "language")
    if kind not in KINDS:
        raise BadInput(f"recipe {recipe.name} makes {kind!r}{meant(str(kind), KINDS)}", f"one of {', '.join(KINDS)}")
    return kind


# -- its parameters


def read_parameters(recipe: Recipe, preset: str = "", settings: Sequence[str] = ()) -> Any:
    """The recipe's parameters: its defaults, then the preset, then `name=value` one by one."""
    known = {field.name: field for field in msgspec.structs.fields(recipe.parameters)}
    values: dict[str, Any] = {}
    if preset and preset != "default":
        if preset not in recipe.presets:
            raise BadInput(
                f"recipe {recipe.name} has no preset {preset!r}{meant(preset, ['default', *recipe.presets])}"
            )
        values |= recipe.presets[preset]
    for setting in settings:
        name, equals, value = setting.partition("=")
        name = name.strip()
        if not equals:
            raise BadInput(f"{setting!r} is not name=value")
        if name not in known:
            raise BadInput(f"recipe {recipe.name} has no parameter {name!r}{meant(name, known)}")
        values[name] = value.strip()
    try:
        return msgspec.convert(values, recipe.parameters, strict=False)
    except msgspec.ValidationError as error:
        raise BadInput(f"recipe {recipe.name}: {error}") from None


def described(recipe: Recipe) -> Iterator[tuple[str, Any, str]]:
    """Every parameter: its name, its default and what it is."""
    described_types = msgspec.inspect.type_info(recipe.parameters)
    assert isinstance(described_types, msgspec.inspect.StructType)
    for field in described_types.fields:
        extra = field.type.extra_json_schema if isinstance(field.type, msgspec.inspect.Metadata) else None
        yield field.name, field.default, str((extra or {}).get("description", ""))


# -- its rows


def rows_of(rows: Sequence[TrainingRow], split: Split) -> list[TrainingRow]:
    return [row for row in rows if row.split == split]


def read_rows(path: Path) -> list[TrainingRow]:
    """A file of JSON lines, each a TrainingRow."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from None
    found = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                found.append(msgspec.json.decode(line, type=TrainingRow))
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                raise BadInput(f"{path}, line {number}: {error}") from None
    return found


def needs_training() -> None:
    """Recipes that train a network need what the extra brings."""
    missing = [name for name in ("torch", "transformers", "onnx") if find_spec(name) is None]
    if missing:
        raise Unavailable(f"training needs {', '.join(missing)}", "pip install 'tenor[finetune]'")


def needs_nemo() -> None:
    if find_spec("nemo") is None:
        raise Unavailable("NeMo is not installed", "pip install 'tenor[nemo]', in an environment of its own")


# -- how it is stopped


class Paused(TenorError):
    """Somebody wanted the machine back: what was reached is in a checkpoint, and the same command goes on from it."""

    exit_code = 75


class StopRequest:
    """Whether the run was asked to stop. SIGTERM asks for it."""

    def __init__(self) -> None:
        self.asked = False


@contextmanager
def stoppable() -> Iterator[StopRequest]:
    """While it lasts, SIGTERM does not end the process but is told to the run, which saves and raises Paused."""
    request = StopRequest()
    if current_thread() is not main_thread():  # signals are the main thread's; elsewhere nobody can ask
        yield request
        return

    def ask(number: int, frame: FrameType | None) -> None:
        request.asked = True

    before = signal.signal(signal.SIGTERM, ask)
    try:
        yield request
    finally:
        signal.signal(signal.SIGTERM, before)


# -- its checkpoints


def newest_checkpoint(out: Path, suffix: str) -> Path | None:
    """The one with the highest step; checkpoints are named by it."""
    found = sorted((out / CHECKPOINTS).glob(f"*{suffix}"))
    return found[-1] if found else None


@contextmanager
def new_checkpoint(out: Path, step: int, suffix: str) -> Iterator[Path]:
    """Where to write it. It takes its name only when it is complete, and older ones go then."""
    folder = out / CHECKPOINTS
    folder.mkdir(parents=True, exist_ok=True)
    part, whole = folder / f".{step:09d}.part", folder / f"{step:09d}{suffix}"
    yield part
    with part.open("rb") as file:
        os.fsync(file.fileno())
    part.replace(whole)
    for older in folder.glob(f"*{suffix}"):
        if older.name < whole.name:
            older.unlink()
