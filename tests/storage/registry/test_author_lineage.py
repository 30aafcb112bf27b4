"""What one labeller touched: to be known when their labels turn out to be wrong."""

from __future__ import annotations

import time
from pathlib import Path

from sqlmodel import select

from storage.archive.archiver import archive
from storage.datasets import DatasetVersion
from storage.datasets.making import make
from storage.datasets.versions import rows_of
from storage.db.engine import Database
from storage.place import Place
from storage.registry import lineage
from storage.registry.registry import Registry
from storage.snapshots import take
from storage.tables import Label
from tenor.settings import LearnSettings, Settings
from tests.storage.datasets.material import label, labelled_calls
from tests.storage.registry.test_registry import candidate


def frozen(database: Database, settings: Settings, name: str, search: str = "") -> DatasetVersion:
    archive(database, settings)
    return make(database, settings, name, search, snapshot=take(settings, by="root").name, by="root")


def test_datasets_models_and_sentences_of_one_labeller_are_found(
    database: Database, sqlite_settings: Settings, tmp_path: Path
) -> None:
    settings = sqlite_settings.model_copy(update={"learn": LearnSettings(experts=["rita", "mallory"])})
    place = Place(settings.learn_url)
    with database.begin() as session:
        labelled_calls(session)
    before = frozen(database, settings, "clean")
    with database.begin() as session:
        mine = list(session.exec(select(Label.sentence).where(Label.kind == "sentiment").limit(12)))
        for one in mine:
            assert one
            label(session, one, "sentiment", "neutral", author="mallory", at=time.time())
    after = frozen(database, settings, "house")
    registry = Registry(database, settings.models_folder)
    candidate(registry, tmp_path / "a", dataset=before.reference)
    candidate(registry, tmp_path / "b", dataset=after.reference)
    found = lineage.of_author(registry, "mallory", place)
    rows = {row["id"] for row in rows_of(place, after).to_pylist()} & {*mine}
    assert rows
    assert [(one.depth, one.what, one.name) for one in found] == [
        (0, "labels", "sentiment"), (0, "sentences", ""), (1, "dataset", "house@1"), (2, "model", "house-2")
    ]  # fmt: skip
    assert found[1].text.startswith("12; `tenor labels list --author mallory`")
    assert f"{len(rows)} of {sum(after.counts.values())} rows" in found[2].text
    assert [one.text for one in lineage.of_author(registry, "nobody", place)] == ["none by nobody"]
