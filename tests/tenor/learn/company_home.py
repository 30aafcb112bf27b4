"""A home with labelled calls of the sample company, where a small model that has learned nothing is in force."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import update

from storage.db.engine import Database, using
from storage.registry.registry import Registry
from storage.sample.company import COMPANY, CompanyLine, SampleAnswer, add_company
from storage.tables import Call, Label
from storage.viewer import Viewer
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
