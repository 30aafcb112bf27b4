"""Where storage cannot be rewritten, erasing a call deletes its key: no file gives its words back, all others stay
readable, and nothing that is there is ever written again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from storage.archive.archiver import archive
from storage.archive.blobs import BlobStore
from storage.archive.expiry import expire
from storage.archive.parts import newest
from storage.archive.sealing.keys import CallKeys
from storage.archive.sealing.place import ArchivePlace
from storage.archive.sync import sync
from storage.datasets import DatasetVersion, find, open_dataset
from storage.datasets.bundle import export_bundle
from storage.datasets.checking import check
from storage.datasets.making import make
from storage.db.engine import Database, open_database
from storage.place import Place
from storage.privacy.erasure import Receipt, erase
from storage.snapshots import restore, take, verify
from storage.tables import Turn
from tenor.errors import BadInput
from tenor.settings import LearnSettings, Settings
from tests.storage.archive.test_archiver import record
from tests.storage.archive.test_erasures import words_in
from tests.storage.conversations import NAMES, START, add_call
from tests.storage.datasets.material import label

SECRET = "xylophonist"


class WormFiles(MemoryFileSystem):  # type: ignore[misc]
    """A store of objects with a lock: what is there cannot be written again or deleted."""

    protocol = "worm"
    store: dict[str, Any] = {}
    pseudo_dirs = [""]

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        if mode != "rb" and self.isfile(path):
            raise PermissionError(f"{path} is locked")
        return super()._open(path, mode, **options)

    def _rm(self, path: str) -> None:
        raise PermissionError(f"{path} is locked")

    rm_file = _rm


def on_disk(folder: Path) -> dict[str, tuple[int, int, str]]:
    """Of every file: which one it is, when it was written, and what is in it."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {
        str(path.relative_to(folder)): (
            path.stat().st_ino,
            path.stat().st_mtime_ns,
            hashlib.sha256(path.read_bytes()).hexdigest(),
        )
        for path in files
    }


@pytest.fixture
def worm(sqlite_settings: Settings) -> Settings:
    return sqlite_settings.model_copy(update={"learn": LearnSettings(worm=True, experts=["rita"])})


@pytest.fixture
def filled(worm: Settings) -> Iterator[Database]:
    database = open_database(worm)
    record(worm, "gone.flac")
    record(worm, "kept-1.flac")
    with database.session() as session:
        add_call(session, "gone", f"I am the {SECRET}.", recording="gone.flac", customer="ann")
        label(session, "gone/0/0", "text", f"I was the {SECRET}.", at=START + 86_400)
        label(session, "gone/0/0", "sentiment", "negative")
        for number in range(40):
            name, at = f"kept-{number}", START + number * 3600
            recording = "kept-1.flac" if number == 1 else ""
            add_call(session, name, f"I stay here, number {number}.", customer=name, recording=recording, started_at=at)
            label(session, f"{name}/0/0", "sentiment", "negative" if number % 2 else "neutral")
        session.add(Turn(id="gone/1", call="gone", turn=1, at=START, input=f"find a {SECRET}", intent="find_store"))
        session.add(Turn(id="kept-1/1", call="kept-1", turn=1, at=START, input="find a store", intent="find_store"))
        session.commit()
    yield database
    database.close()


def frozen(database: Database, settings: Settings) -> DatasetVersion:
    archive(database, settings)
    return make(database, settings, "house", "", snapshot=take(settings, by="root").name, by="root")


def texts(settings: Settings) -> set[str]:
    with open_dataset(settings, "house@1") as dataset:
        return {row.text for row in dataset.rows()}


def everything(settings: Settings) -> str:
    """All that somebody with the files and the keys of the database can read."""
    place = ArchivePlace(settings)
    blobs, said = BlobStore(place), []
    for sha256 in blobs.all():
        try:
            said.append(str(blobs.table(sha256).to_pylist()))
        except BadInput:
            continue  # a recording
    return "\n".join(said)


async def test_an_erased_call_can_be_read_from_no_file_and_the_rest_stays(
    filled: Database, worm: Settings, tmp_path: Path
) -> None:
    frozen(filled, worm)
    learn = Path(worm.learn_url)
    assert SECRET in everything(worm)
    assert any(SECRET in text for text in texts(worm))
    sync(worm, str(tmp_path / "second"))
    for folder in (learn, tmp_path / "second"):
        assert SECRET not in words_in(folder), "nobody reads a file without the database"
        assert "I stay here" not in words_in(folder)
    before = on_disk(learn)

    receipt = await erase(filled, worm, by="root", call="gone")

    assert before == on_disk(learn), "nothing was written again"
    assert SECRET not in everything(worm)
    assert "I stay here, number 1." in everything(worm)
    assert len(texts(worm)) == 40
    assert SECRET.encode() not in (worm.home / "tenor.db").read_bytes()
    assert receipt.copies == {"archive": 8, "audio": 4, "keys": 1}, (
        "a sentence, two labels and a turn, and two channels, at two places"
    )
    assert receipt.learned == ["house@1"]
    assert any("the key is deleted" in note for note in receipt.notes)


async def test_the_recording_of_an_erased_call_cannot_be_heard(filled: Database, worm: Settings) -> None:
    archive(filled, worm)
    place = ArchivePlace(worm)
    part = next(part for part in newest(place).parts if part.kind == "audio")
    blobs = BlobStore(place)
    rows = blobs.table(part.sha256).to_pylist()
    assert {row["call"] for row in rows} == {"gone", "kept-1"}
    for row in rows:
        assert blobs.sound(row["sha256"]).read(4) == b"fLaC"
        assert b"fLaC" not in blobs.get(row["sha256"])

    await erase(filled, worm, by="root", call="gone")

    assert {row["call"] for row in blobs.table(part.sha256).to_pylist()} == {"kept-1"}
    for row in rows:
        if row["call"] == "gone":
            with pytest.raises(BadInput, match="its key is gone"):
                blobs.sound(row["sha256"])
        else:
            assert blobs.sound(row["sha256"]).read(4) == b"fLaC"


async def test_snapshots_are_verified_and_restored_as_before(filled: Database, worm: Settings, tmp_path: Path) -> None:
    made = frozen(filled, worm)
    await erase(filled, worm, by="root", call="gone")

    report = verify(ArchivePlace(worm), made.snapshot)
    assert (report.sound, report.erased_calls) == (True, 1)

    into = tmp_path / "again"
    assert restore(worm, made.snapshot, str(into)).sound
    restored = worm.model_copy(update={"learn": LearnSettings(url=str(into), worm=True)})
    assert texts(restored) == texts(worm)
    assert len(texts(restored)) == 40
    checked = check(ArchivePlace(worm), find(ArchivePlace(worm), "house@1"), NAMES)
    assert (checked.rows, checked.may_train) == (40, True)


def test_an_unchanged_archive_costs_nothing_and_a_changed_day_one_table(filled: Database, worm: Settings) -> None:
    first = archive(filled, worm)
    assert first.new_blobs > 4
    assert archive(filled, worm).new_blobs == 0
    with filled.session() as session:
        add_call(session, "more", "One more call.", started_at=START + 60)
        session.commit()
    before = on_disk(Path(worm.learn_url))
    assert archive(filled, worm).new_blobs == 1, "calls that did not change have the blocks they had"
    after = on_disk(Path(worm.learn_url))
    assert {name: after[name] for name in before} == before


async def test_a_place_that_refuses_every_rewrite_takes_all_of_it(
    filled: Database, worm: Settings, tmp_path: Path
) -> None:
    fsspec.register_implementation("worm", WormFiles, clobber=True)
    WormFiles.store.clear()
    locked = worm.model_copy(
        update={"learn": LearnSettings(url="worm://archive", worm=True, experts=["rita"], sync=str(tmp_path / "copy"))}
    )
    frozen(filled, locked)
    sync(locked, str(tmp_path / "copy"))
    with filled.session() as session:
        add_call(session, "late", "I came later.", started_at=START + 60)
        session.commit()
    archive(filled, locked)
    take(locked, by="root")

    receipt = await erase(filled, locked, by="root", call="gone")

    assert receipt.copies["keys"] == 1
    assert SECRET not in everything(locked)
    assert "I came later." in everything(locked)
    archive(filled, locked)


def test_calls_past_their_time_lose_their_keys(filled: Database, worm: Settings) -> None:
    frozen(filled, worm)
    with filled.session() as session:
        add_call(session, "young", "I am new here.", started_at=START + 35 * 86_400)
        session.commit()
    archive(filled, worm)
    before = on_disk(Path(worm.learn_url))
    short = worm.model_copy(update={"learn": LearnSettings(worm=True, keep_days=30)})

    assert expire(short, START + 40 * 86_400) == 41
    assert expire(short, START + 40 * 86_400) == 0

    assert on_disk(Path(worm.learn_url)) == before
    assert "I stay here" not in everything(worm)
    assert "I am new here." in everything(worm)


def test_an_archive_is_sealed_from_its_beginning_or_not_at_all(filled: Database, worm: Settings) -> None:
    plain = worm.model_copy(update={"learn": LearnSettings()})
    archive(filled, plain)
    with pytest.raises(BadInput, match="begun without"):
        archive(filled, worm)
    other = LearnSettings(url=str(worm.home / "sealed"), worm=True)
    archive(filled, worm.model_copy(update={"learn": other}))
    with pytest.raises(BadInput, match="is sealed"):
        archive(filled, worm.model_copy(update={"learn": LearnSettings(url=other.url)}))


def test_a_place_lets_nobody_write_again_or_delete(tmp_path: Path) -> None:
    place = Place(str(tmp_path), worm=True)
    place.write("a/b", b"first", writable=False)
    with pytest.raises(BadInput, match="already"):
        place.write("a/b", b"second")
    with pytest.raises(BadInput, match="already"):
        place.put("a/b", Path(__file__))
    assert not place.delete("a/b")
    assert place.read("a/b") == b"first"


def test_a_bundle_that_nobody_could_read_is_not_made(filled: Database, worm: Settings, tmp_path: Path) -> None:
    made = frozen(filled, worm)
    with pytest.raises(BadInput, match="sealed with keys"):
        export_bundle(ArchivePlace(worm), made, tmp_path / "house.tar")
    assert not list(tmp_path.glob("*.tar"))


async def test_keys_are_those_of_the_database_also_on_postgresql(
    database: Database, database_settings: Settings
) -> None:
    settings = database_settings.model_copy(update={"learn": LearnSettings(worm=True)})
    with database.session() as session:
        add_call(session, "gone", f"I am the {SECRET}.")
        add_call(session, "kept", "I stay here.")
        session.commit()
    archive(database, settings)
    assert SECRET in everything(settings)
    receipt: Receipt = await erase(database, settings, by="root", call="gone")
    assert receipt.copies["keys"] == 1
    assert SECRET not in everything(settings)
    assert "I stay here." in everything(settings)
    assert CallKeys(settings).of_calls({"gone", "kept"}).keys() == {"kept"}
