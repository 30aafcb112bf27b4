"""A second place gets what is new, and either of the two can be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from storage.archive.archiver import archive
from storage.archive.blobs import BlobStore, blob_name
from storage.archive.parts import newest, root_hash
from storage.archive.sync import sync
from storage.db.engine import Database, open_database
from storage.place import Place
from tenor.errors import BadInput
from tenor.settings import LearnSettings, Settings
from tests.storage.archive.test_archiver import fill
from tests.storage.conversations import START, add_call


@pytest.fixture
def archived(sqlite_settings: Settings) -> Settings:
    database = open_database(sqlite_settings)
    with database.session() as session:
        fill(session)
    archive(database, sqlite_settings)
    database.close()
    return sqlite_settings


def at(settings: Settings, url: str | Path) -> Settings:
    return settings.model_copy(update={"learn": LearnSettings(url=str(url))})


def test_only_what_is_new_is_copied_and_both_places_hold_the_same(archived: Settings, tmp_path: Path) -> None:
    second = str(tmp_path / "second")
    first = sync(archived, second)
    assert (first.copied, first.known, first.damaged) == (3, 0, [])
    database = open_database(archived)
    with database.session() as session:
        add_call(session, "three", "One more.", started_at=START + 10 * 86_400)
        session.commit()
    archive(database, archived)

    report = sync(archived, second)

    assert (report.copied, report.known, report.deleted) == (1, 3, 0)
    assert newest(Place(second)).parts == newest(Place(archived.learn_url)).parts
    assert sync(archived, second).copied == 0
    assert archive(database, at(archived, second)).changed_days == 0, "the second place can be used as the first"
    database.close()


def test_a_blob_that_is_damaged_is_named_and_the_others_are_copied(archived: Settings, tmp_path: Path) -> None:
    (damaged, *whole) = BlobStore(Place(archived.learn_url)).all()
    path = Path(archived.learn_url) / blob_name(damaged)
    path.chmod(0o644)
    path.write_bytes(b"")

    report = sync(archived, str(tmp_path / "second"))

    assert report.damaged == [damaged]
    assert BlobStore(Place(str(tmp_path / "second"))).all() == whole


def test_the_place_of_another_archive_is_refused(archived: Settings, database: Database, tmp_path: Path) -> None:
    other = at(archived, tmp_path / "other")
    with database.session() as session:
        add_call(session, "stranger", "Hello.")
        session.commit()
    archive(database, other)
    before = root_hash(newest(Place(other.learn_url)).parts)

    with pytest.raises(BadInput, match="another archive"):
        sync(archived, other.learn_url)
    with pytest.raises(BadInput, match="the archive itself"):
        sync(archived, archived.learn_url)

    assert root_hash(newest(Place(other.learn_url)).parts) == before
