"""What was erased is in no file of the archive, its copies and tables; the rest is as it was."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from storage.archive.archiver import archive
from storage.archive.blobs import BlobStore, blob_name
from storage.archive.expiry import expire
from storage.archive.parts import newest
from storage.archive.sync import sync
from storage.db.engine import Database, open_database
from storage.place import Place
from storage.privacy.erasure import erase
from storage.snapshots import take, verify
from storage.tables import Turn
from tenor.errors import BadInput
from tenor.settings import LearnSettings, Settings, StorageSettings
from tests.storage.archive.test_archiver import DAY, damage, held, record
from tests.storage.conversations import START, add_call, add_label

SECRET = "xylophonist"


def words_in(folder: Path) -> str:
    """Everything that the files below a folder say, tables among them."""
    said = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = path.read_bytes()
        said.append(
            str(pq.read_table(path).to_pylist()) if content[:4] == b"PAR1" else content.decode("utf-8", "replace")
        )
    return "\n".join(said)


@pytest.fixture
def filled(sqlite_settings: Settings) -> Database:
    database = open_database(sqlite_settings)
    record(sqlite_settings, "gone.flac")
    with database.session() as session:
        add_call(session, "gone", f"I am the {SECRET}.", recording="gone.flac", customer="ann")
        add_call(session, "kept", "I stay here.", customer="ben")
        add_label(session, "gone/0/0", "text", f"I was the {SECRET}.", at=START + 86_400)
        session.add(Turn(id="gone/1", call="gone", turn=1, at=START, input=f"find a {SECRET}", intent="find_store"))
        session.add(Turn(id="kept/1", call="kept", turn=1, at=START, input="find a store", intent="find_store"))
        session.commit()
    archive(database, sqlite_settings)
    return database


async def test_an_erased_call_is_in_no_file(filled: Database, sqlite_settings: Settings, tmp_path: Path) -> None:
    second = tmp_path / "second"
    sync(sqlite_settings, str(second))
    learn = Path(sqlite_settings.learn_url)
    assert SECRET in words_in(learn)
    assert SECRET in words_in(second)

    receipt = await erase(filled, sqlite_settings, by="root", call="gone")

    assert receipt.copies == {"archive": 6, "audio": 4}, (
        "a sentence, a label and a turn, and two channels, at two places"
    )
    for folder in (learn, second):
        assert SECRET not in words_in(folder)
        assert "gone" not in words_in(folder)
        assert "I stay here." in words_in(folder)
    assert [row["call"] for row in held(sqlite_settings, "turns", DAY).to_pylist()] == ["kept"]
    assert len(BlobStore(Place(str(learn))).all()) == 4, (
        "sentences, labels, turns and audio of their days, no recording"
    )
    assert newest(Place(str(learn))).parts == newest(Place(str(second))).parts
    filled.close()


async def test_a_damaged_blob_is_told_when_the_others_are_rewritten(
    filled: Database, sqlite_settings: Settings
) -> None:
    """And once it is deleted, or brought back, the same command completes the erasure."""
    blob = damage(sqlite_settings, "turns", DAY)
    with pytest.raises(BadInput, match=f"{blob} .* is damaged") as told:
        await erase(filled, sqlite_settings, by="root", call="gone")
    said = [row["text"] for row in held(sqlite_settings, "sentences", DAY).to_pylist()]
    assert said == ["I stay here."]
    assert blob_name(blob) in told.value.hint
    BlobStore(Place(sqlite_settings.learn_url)).delete(blob)
    await erase(filled, sqlite_settings, by="root", call="gone")
    assert SECRET not in words_in(Path(sqlite_settings.learn_url))
    filled.close()


async def test_a_copy_that_is_away_follows_with_the_next_sync(
    filled: Database, sqlite_settings: Settings, tmp_path: Path
) -> None:
    second = tmp_path / "second"
    sync(sqlite_settings, str(second))
    away = second.rename(tmp_path / "away")
    second.write_text("not mounted")

    receipt = await erase(filled, sqlite_settings, by="root", call="gone")

    assert [note for note in receipt.notes if str(second) in note]
    second.unlink()
    away.rename(second)
    assert SECRET in words_in(second)
    sync(sqlite_settings, str(second))
    assert SECRET not in words_in(second)
    assert "I stay here." in words_in(second)
    filled.close()


async def test_nothing_is_made_where_nothing_was_archived(sqlite_settings: Settings, tmp_path: Path) -> None:
    database = open_database(sqlite_settings)
    with database.session() as session:
        add_call(session, "gone", "Hello.")
        session.commit()
    settings = sqlite_settings.model_copy(update={"learn": LearnSettings(url=str(tmp_path / "none"))})
    await erase(database, settings, by="root", call="gone")
    assert not (tmp_path / "none").exists()
    database.close()


def test_calls_past_their_time_leave_the_archive_and_its_snapshots(filled: Database, sqlite_settings: Settings) -> None:
    with filled.session() as session:
        add_call(session, "young", "I am new here.", started_at=START + 35 * 86_400)
        session.commit()
    archive(filled, sqlite_settings)
    taken = take(sqlite_settings, by="root")
    kept = sqlite_settings.model_copy(update={"learn": LearnSettings(keep_days=30)})
    by_storage = sqlite_settings.model_copy(update={"storage": StorageSettings(keep_calls_days=30)})
    now = START + 40 * 86_400

    assert expire(sqlite_settings, now) == 0, "for ever"
    assert expire(kept, now) == 2
    assert expire(by_storage, now) == 0, "it is done already"

    said = words_in(Path(sqlite_settings.learn_url))
    assert SECRET not in said
    assert "I am new here." in said
    report = verify(Place(sqlite_settings.learn_url), taken.name)
    assert (report.sound, report.erasures) == (True, 1)
