"""The archive holds what the database holds of finished calls, costs nothing while it is current, and loses nothing."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import soundfile
from sqlalchemy import delete, update
from sqlmodel import Session, col

from storage.archive import tables
from storage.archive.archiver import ArchiveCounts, archive
from storage.archive.blobs import BlobStore, blob_name
from storage.archive.days import day_of
from storage.archive.parts import newest, root_hash
from storage.db.engine import Database
from storage.labels.labels import withdraw
from storage.privacy import tombstones
from storage.tables import Audit, Call, Label, Sentence, Turn
from storage.viewer import Viewer
from tenor.settings import LearnSettings, Settings
from tests.storage.conversations import START, add_call, add_label

DAY = day_of(START)
NEXT = START + 86_400


def fill(session: Session) -> None:
    add_call(session, "one", "I want a refund.", "Of course.", customer="ann", queue="billing", agent="amir")
    add_call(session, "two", "My card is lost.", customer="ben", started_at=NEXT)
    add_call(session, "open", "Nobody archives this yet.", state="live")
    add_label(session, "one/0/0", "sentiment", "negative", at=NEXT)
    session.commit()


def held(settings: Settings, kind: str, day: str) -> pa.Table:
    """What the archive holds of a day."""
    from storage.place import Place

    place = Place(settings.learn_url)
    part = next(part for part in newest(place).parts if part.place == (kind, day))
    return tables.from_bytes(BlobStore(place).get(part.sha256))


def damage(settings: Settings, kind: str, day: str) -> str:
    """Change a byte of the blob of a day; its hash."""
    from storage.place import Place

    place = Place(settings.learn_url)
    part = next(part for part in newest(place).parts if part.place == (kind, day))
    path = Path(place.path(blob_name(part.sha256)))
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    return part.sha256


def root(settings: Settings) -> str:
    from storage.place import Place

    return root_hash(newest(Place(settings.learn_url)).parts)


def test_finished_calls_and_labels_are_archived_by_their_days(database: Database, database_settings: Settings) -> None:
    with database.session() as session:
        fill(session)

    counts = archive(database, database_settings)

    assert (counts.calls, counts.sentences, counts.labels, counts.changed_days) == (2, 3, 1, 2)
    first = held(database_settings, "sentences", DAY).to_pylist()
    assert [(row["id"], row["text"], row["role"], row["queue"]) for row in first] == [
        ("one/0/0", "I want a refund.", "caller", "billing"),
        ("one/1/1000", "Of course.", "agent", "billing"),
    ]
    (label,) = held(database_settings, "labels", day_of(NEXT)).to_pylist()
    assert (label["sentence"], label["kind"], label["value"], label["held"]) == (
        "one/0/0",
        "sentiment",
        "negative",
        False,
    )


def test_a_current_archive_is_left_as_it_is(database: Database, database_settings: Settings) -> None:
    with database.session() as session:
        fill(session)
    archive(database, database_settings)
    state = root(database_settings)

    again = archive(database, database_settings)

    assert (again.changed_days, again.new_blobs, again.deleted_blobs) == (0, 0, 0)
    assert root(database_settings) == state


def test_only_the_day_that_changed_is_written_anew(database: Database, database_settings: Settings) -> None:
    with database.session() as session:
        fill(session)
    archive(database, database_settings)
    before = held(database_settings, "sentences", day_of(NEXT))
    with database.begin() as session:
        session.execute(update(Call).where(col(Call.id) == "one").values(swapped=True))

    counts = archive(database, database_settings)

    assert (counts.changed_days, counts.new_blobs, counts.deleted_blobs) == (1, 1, 1)
    assert [row["role"] for row in held(database_settings, "sentences", DAY).to_pylist()] == ["agent", "caller"]
    assert held(database_settings, "sentences", day_of(NEXT)).equals(before)


def test_a_damaged_day_is_named_and_the_others_are_archived(database: Database, database_settings: Settings) -> None:
    with database.session() as session:
        fill(session)
    archive(database, database_settings)
    blob = damage(database_settings, "sentences", DAY)
    with database.begin() as session:
        session.execute(update(Call).values(swapped=True))

    counts = archive(database, database_settings)

    [fault] = counts.faults
    assert fault.startswith(f"sentences of {DAY}: blob {blob} ")
    assert [row["role"] for row in held(database_settings, "sentences", day_of(NEXT)).to_pylist()] == ["agent"]
    assert counts.calls == 2


def test_a_label_taken_back_leaves_the_archive(database: Database, database_settings: Settings) -> None:
    with database.session() as session:
        fill(session)
    archive(database, database_settings)
    with database.begin() as session:
        (label,) = session.query(Label).all()
        withdraw(session, Viewer("rita", "analyst"), label.id or 0)

    assert archive(database, database_settings).labels == 0


def test_calls_past_their_time_in_the_database_stay_in_the_archive(
    database: Database, database_settings: Settings
) -> None:
    with database.session() as session:
        fill(session)
        add_call(session, "sampled", "This was made up.", sample=True)
        session.commit()
    archive(database, database_settings)
    with database.begin() as session:
        session.execute(delete(Call).where(col(Call.id).in_(["one", "sampled"])))

    counts = archive(database, database_settings)

    assert counts.calls == 2
    assert tables.calls_in(held(database_settings, "sentences", DAY)) == {"one"}
    assert counts.labels == 1, "a label goes with its call"


def test_an_erased_call_is_never_archived_again(database: Database, database_settings: Settings) -> None:
    with database.session() as session:
        fill(session)
    archive(database, database_settings)
    with database.begin() as session:
        tombstones.mark(session, "one", START)
        session.execute(update(Call).where(col(Call.id) == "one").values(swapped=True))

    archive(database, database_settings)

    assert tables.calls_in(held(database_settings, "sentences", DAY)) == set()


def test_the_turns_of_a_day_are_a_table_to_read(database: Database, database_settings: Settings) -> None:
    with database.session() as session:
        add_call(session, "shop", "find a store")
        said: dict[str, Any] = {
            "tags": ["O", "O", "O"],
            "slots": {"city": "Rome"},
            "replies": [{"text": "Here is one."}],
        }
        session.add(Turn(id="shop/1", call="shop", turn=1, at=START, input="find a store", intent="find_store", **said))
        session.commit()

    assert archive(database, database_settings).turns == 1

    text = (Path(database_settings.learn_url) / "turns" / f"{DAY}.csv").read_text()
    (row,) = csv.DictReader(io.StringIO(text, newline=""))
    assert (row["call"], row["input"], row["replies"]) == ("shop", "find a store", "Here is one.")


def record(settings: Settings, name: str) -> np.ndarray[Any, Any]:
    folder = Path(settings.recordings_url)
    folder.mkdir(parents=True, exist_ok=True)
    sound = np.random.default_rng(1).integers(-3000, 3000, (8000, 2)).astype("int16")
    soundfile.write(folder / name, sound, 8000, "PCM_16", format="FLAC")
    return sound


def test_audio_is_kept_per_channel_as_it_was(sqlite_settings: Settings, tmp_path: Path) -> None:
    from storage.db.engine import open_database

    database = open_database(sqlite_settings)
    sound = record(sqlite_settings, "one.flac")
    with database.session() as session:
        add_call(session, "one", "Hello.", recording="one.flac", attributes={"codec": "mulaw"})
        add_call(session, "lost", "Hello.", recording="lost.flac")
        (Path(sqlite_settings.recordings_url) / "broken.flac").write_bytes(b"no audio")
        add_call(session, "broken", "Hello.", recording="broken.flac")
        session.commit()

    assert archive(database, sqlite_settings).audio == 2, "a recording that cannot be read does not stop the others"

    rows = held(sqlite_settings, "audio", DAY).to_pylist()
    assert [(row["call"], row["channel"], row["rate"], row["codec"], row["role"]) for row in rows] == [
        ("one", 0, 8000, "mulaw", "caller"),
        ("one", 1, 8000, "mulaw", "agent"),
    ]
    from storage.place import Place

    blobs = BlobStore(Place(sqlite_settings.learn_url))
    for row in rows:
        samples, _ = soundfile.read(io.BytesIO(blobs.get(row["sha256"])), dtype="int16")
        assert np.array_equal(samples, sound[:, row["channel"]])
    without = sqlite_settings.model_copy(update={"learn": LearnSettings(audio=False, url=str(tmp_path / "no-audio"))})
    assert archive(database, without).audio == 0
    database.close()


@pytest.mark.parametrize("kind", ["sentences", "labels"])
def test_equal_rows_make_equal_bytes(database: Database, database_settings: Settings, kind: str) -> None:
    with database.session() as session:
        fill(session)
    elsewhere = database_settings.model_copy(update={"learn": LearnSettings(url=f"{database_settings.home}/other")})

    archive(database, database_settings)
    archive(database, elsewhere)

    assert root(database_settings) == root(elsewhere)


def test_counts_say_what_was_done(database: Database, database_settings: Settings) -> None:
    assert archive(database, database_settings) == ArchiveCounts()


def test_what_is_masked_in_the_database_is_masked_in_the_archive(
    database: Database, database_settings: Settings
) -> None:
    with database.session() as session:
        fill(session)
    archive(database, database_settings)
    with database.begin() as session:
        session.execute(update(Sentence).where(col(Sentence.id) == "two/0/0").values(text="My [card] is lost."))
        session.add(Audit(at=START, who="root", action="call.redacted", subject="two", detail={}))

    assert archive(database, database_settings).changed_days == 1
    assert held(database_settings, "sentences", day_of(NEXT))["text"].to_pylist() == ["My [card] is lost."]
