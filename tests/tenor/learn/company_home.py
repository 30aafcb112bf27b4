"""A home with labelled calls of the sample company, where a small model that has learned nothing is in force."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import update
from sqlmodel import select

from storage.datasets import listing as datasets
from storage.db.engine import Database, using
from storage.place import Place
from storage.registry.registry import Registry
from storage.sample.company import COMPANY, CompanyLine, SampleAnswer, add_company
from storage.snapshots import listing as snapshots
from storage.tables import Call, Gate, Label, Run
from storage.viewer import Viewer
from tenor.model_store import read_card
from tenor.settings import Settings
from tests.nlp.inference.models.layered import write_layered

ANN = Viewer("ann", "analyst")
SHARED = tuple(one["name"] for one in (*COMPANY["intents"], *COMPANY["agent"]) if not one.get("own"))
HEADS = {
    "sentiment": ("negative", "neutral", "positive"),
    "intent": (*SHARED, "sting_advice", "unknown"),
}
"""One of the company's own is known, so that the taxonomy's examples count for nothing here."""


def prepare_home(folder: Path, *, calls: int) -> Path:
    home, settings = folder / "home", home_of(folder / "home")
    small = write_layered(folder / "small-1", HEADS)
    with using(settings) as database:
        assert add_company(database, unknown, calls=calls) == calls
        as_made_up(database, made_up=False)
        registry = Registry(database, settings.models_folder)
        model = registry.add(ANN, small, name="small", kind="language")
        registry.promote(ANN, model.id, "to start from", force=True)
    return home


def as_made_up(database: Database, *, made_up: bool) -> None:
    """Whether the company's calls count as made up, which nobody learns from unasked."""
    with database.begin() as session:
        for table in (Call, Label):
            session.execute(update(table).values(sample=made_up))


def home_of(folder: Path) -> Settings:
    return Settings(home=folder)


def unknown(said: Sequence[Sequence[CompanyLine]]) -> list[list[SampleAnswer]]:
    """A model that understands nothing."""
    return [[SampleAnswer("neutral", {"neutral": 1.0}, 0.0, "unknown", 0.4, {}) for _ in lines] for lines in said]


@dataclass(frozen=True)
class State:
    """What a loop leaves behind, without times."""

    datasets: list[str]
    snapshots: int
    runs: list[tuple[str, str]]
    models: Mapping[str, tuple[str, dict[str, str]]]
    promotions: list[tuple[str, str]]
    gates: int


def state_of(settings: Settings, database: Database) -> State:
    place, registry = Place(settings.learn_url), Registry(database, settings.models_folder)
    ours = [one for one in registry.versions("language") if not one.ships]
    files = {one.id: read_card(registry.path(one)).files for one in ours}
    made = {one.id: (one.state, {name: files[one.id][name] for name in ("model.onnx", "heads.npz")}) for one in ours}
    with database.session() as session:
        runs = [(run.state, run.model) for run in session.exec(select(Run))]
        gates = len(session.exec(select(Gate)).all())
    promoted = [(one.model, one.previous) for one in registry.log().promotions]
    return State([one.hash for one in datasets(place)], len(list(snapshots(place))), runs, made, promoted, gates)
