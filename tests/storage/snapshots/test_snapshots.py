"""A snapshot is what it was when it was taken, costs what is new in it, and says what erasures took out of it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from storage.archive.archiver import archive
from storage.archive.blobs import BlobStore, blob_name
from storage.archive.parts import newest, root_hash
from storage.db.engine import Database, open_database
from storage.place import Place
from storage.privacy.erasure import erase
from storage.snapshots import find, listing, restore, take, verify
from storage.snapshots.manifest import diff, file_name
from storage.viewer import Viewer
from tenor.errors import BadInput, Refused
from tenor.settings import LearnSettings, Settings
from tests.storage.archive.test_archiver import DAY, record
from tests.storage.archive.test_erasures import words_in
from tests.storage.conversations import START, add_call

NIGHT = datetime(2026, 11, 18, 3, 0, 0, tzinfo=UTC).timestamp()
SECRET = "xylophonist"


@pytest.fixture
def filled(sqlite_settings: Settings) -> Database:
    database = open_database(sqlite_settings)
    record(sqlite_settings, "gone.flac")
    with database.session() as session:
        add_call(session, "gone", f"I am the {SECRET}.", recording="gone.flac")
        for number in range(20):
            line = f"Sentence number {number} of many that stay here as they are."
            add_call(session, f"kept-{number}", *([line] * 10), started_at=START + number * 86_400)
        session.commit()
    archive(database, sqlite_settings)
    return database


def add_today(database: Database, settings: Settings) -> None:
    with database.session() as session:
        add_call(session, "today", "One more call.", started_at=START + 30 * 86_400)
        session.commit()
    archive(database, settings)


def test_its_name_says_the_job_and_the_time(filled: Database, sqlite_settings: Settings) -> None:
    names = [take(sqlite_settings, by="root", job=job, now=NIGHT).name for job in ("learn-42", "", "learn-42")]
    assert names == [
        "snap-calls-learn-42-2026-11-18-03-00-00",
        "snap-calls-manual-2026-11-18-03-00-00",
        "snap-calls-learn-42-2026-11-18-03-00-01",
    ], "of two in one second the later has the next second's"


def test_the_next_one_costs_only_what_changed(filled: Database, sqlite_settings: Settings) -> None:
    first = take(sqlite_settings, by="root", now=NIGHT)
    stored = sum(path.stat().st_size for path in Path(sqlite_settings.learn_url, "blobs").rglob("*") if path.is_file())
    add_today(filled, sqlite_settings)

    second = take(sqlite_settings, by="root", now=NIGHT + 60)

    assert first.new_bytes == first.bytes == stored
    assert 0 < second.new_bytes < 0.1 * second.bytes
    assert [(change.change, change.kind, change.rows_after) for change in diff(first, second)] == [
        ("added", "sentences", 1)
    ]
    assert diff(first, first) == []
    assert [one.name for one in listing(Place(sqlite_settings.learn_url))] == [first.name, second.name]


def test_a_snapshot_stays_when_the_archive_goes_on(filled: Database, sqlite_settings: Settings) -> None:
    taken = take(sqlite_settings, by="root")
    with filled.begin() as session:
        session.connection().exec_driver_sql("UPDATE calls SET swapped = 1")
    assert archive(filled, sqlite_settings).deleted_blobs == 0

    report = verify(Place(sqlite_settings.learn_url), taken.name)

    assert (report.sound, report.blobs, report.erasures) == (True, len(taken.parts) + 2, 0)
    assert find(Place(sqlite_settings.learn_url), taken.name) == taken


async def test_an_erasure_reaches_every_snapshot_and_is_on_record(filled: Database, sqlite_settings: Settings) -> None:
    first = take(sqlite_settings, by="root", now=NIGHT)
    add_today(filled, sqlite_settings)
    second = take(sqlite_settings, by="root", now=NIGHT + 60)
    restore(sqlite_settings, first.name, f"{sqlite_settings.home}/restored")

    receipt = await erase(filled, sqlite_settings, by="root", call="gone")

    place = Place(sqlite_settings.learn_url)
    assert SECRET not in words_in(sqlite_settings.home / "learn")
    assert SECRET not in words_in(sqlite_settings.home / "restored")
    for taken in (first, second):
        report = verify(place, taken.name)
        assert (report.sound, report.erasures) == (True, 1)
        now = find(place, taken.name)
        assert now.root == taken.root == now.original_root()
        assert {(one.receipt, one.kind, one.rows) for one in now.amendments} == {
            (receipt.receipt, "sentences", 1),
            (receipt.receipt, "audio", 2),
        }
    await erase(filled, sqlite_settings, by="root", call="kept-1")
    assert verify(place, first.name).erasures == 2


def test_damaged_blobs_are_named_and_the_rest_can_be_used(filled: Database, sqlite_settings: Settings) -> None:
    taken = take(sqlite_settings, by="root")
    place = Place(sqlite_settings.learn_url)
    damaged, missing = [part for part in taken.parts if part.kind == "sentences" and part.key != DAY][:2]
    path = Path(place.path(blob_name(damaged.sha256)))
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:-1])
    BlobStore(place).delete(missing.sha256)

    report = verify(place, taken.name)

    assert {(fault.sha256, fault.fault, fault.of) for fault in report.faults} == {
        (damaged.sha256, "damaged", f"sentences of {damaged.key}"),
        (missing.sha256, "missing", f"sentences of {missing.key}"),
    }
    into = f"{sqlite_settings.home}/restored"
    assert restore(sqlite_settings, taken.name, into).faults == report.faults
    assert len(BlobStore(Place(into)).all()) == report.blobs


def test_who_changes_what_a_snapshot_names_is_found_out(filled: Database, sqlite_settings: Settings) -> None:
    taken = take(sqlite_settings, by="root")
    place = Place(sqlite_settings.learn_url)
    forged = msgspec.structs.replace(taken, parts=taken.parts[1:])
    place.write(file_name(taken.name), msgspec.json.encode(forged))
    assert not verify(place, taken.name).root_matches


def test_restored_it_is_an_archive_of_its_own(filled: Database, sqlite_settings: Settings) -> None:
    log = sqlite_settings.home / "log.txt"
    log.write_text("epoch 1")
    taken = take(sqlite_settings, by="root", job="learn-1", files={"run/log.txt": log})
    into = f"{sqlite_settings.home}/restored"

    report = restore(sqlite_settings, taken.name, into)

    assert report.sound
    parts = [part for part in taken.parts if part.kind != "file"]
    assert root_hash(newest(Place(into)).parts) == root_hash(parts)
    add_today(filled, sqlite_settings)
    beside = sqlite_settings.model_copy(update={"learn": LearnSettings(url=into)})
    assert root_hash(newest(Place(into)).parts) == root_hash(parts), "what comes later goes to the old one"
    assert take(beside, by="root").rows("sentences") == taken.rows("sentences")
    with pytest.raises(BadInput, match="not empty"):
        restore(sqlite_settings, taken.name, into)


def test_only_who_may_train_takes_and_restores(filled: Database, sqlite_settings: Settings) -> None:
    for role in ("agent", "manager"):
        with pytest.raises(Refused, match="does not take"):
            take(sqlite_settings, by="mia", viewer=Viewer("mia", role))
    taken = take(sqlite_settings, by="ann", viewer=Viewer("ann", "analyst"))
    with pytest.raises(Refused, match="does not restore"):
        restore(sqlite_settings, taken.name, "elsewhere", viewer=Viewer("mia", "manager"))


@pytest.mark.parametrize("job", ["../x", "a b", "-x", "x" * 300])
def test_a_job_must_be_a_name(filled: Database, sqlite_settings: Settings, job: str) -> None:
    with pytest.raises(BadInput, match="name of a job"):
        take(sqlite_settings, by="root", job=job)


def test_an_unknown_name_says_what_there_is(filled: Database, sqlite_settings: Settings) -> None:
    take(sqlite_settings, by="root", job="learn-1", now=NIGHT)
    with pytest.raises(BadInput, match="learn-1-2026"):
        find(Place(sqlite_settings.learn_url), "snap-calls-learn-1-2026-11-18-03-00-0")
    with pytest.raises(BadInput, match="archive is empty"):
        take(sqlite_settings.model_copy(update={"learn": LearnSettings(url=f"{sqlite_settings.home}/none")}), by="root")
