"""What is past its time goes, with all that belongs to it; what is not stays."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from storage.db.engine import Database, open_database
from storage.labels.labels import correct
from storage.privacy.retention import DAY_S, due, prune, tidy
from storage.recorder.store import RecordingStore
from storage.tables import Audit, Customer, DeadLetter, Note
from storage.viewer import HOUSE
from tenor.settings import Settings
from tests.storage.conversations import NAMES
from tests.storage.rows import alert, call, sentence, store
from tests.storage.writing import rows
from tests.tenor.cli.command import tenor

NOW = time.time()


def keeping(settings: Settings, **days: int) -> Settings:
    return settings.model_copy(update={"storage": settings.storage.model_copy(update=days)})


@pytest.fixture
def filled(database: Database, database_settings: Settings, tmp_path: Path) -> Database:
    """A call a day for ten days, each with everything a call can have."""
    sound = tmp_path / "sound"
    sound.write_bytes(b"sound")
    everything: list[Any] = []
    for day in range(10):
        at = NOW - day * DAY_S - 60
        name = f"day {day}"
        everything += [
            call(name, started_at=at, state="analysed", customer=f"c{day}", recording=f"{day}.flac", recorded=True),
            sentence(name, 0),
            alert(name, 0),
            Note(id=name, call=name, author="maria", text="!", at=at),
            Customer(id=f"c{day}"),
            Customer(id=f"never called {day}", display_name="Zoe"),
            Audit(at=at, who="maria", action="call.listened"),
            DeadLetter(id=name, call=name, stage="asr", reason="", topic="t", partition=0, offset=day, at=at),
        ]
        RecordingStore(database_settings).put(sound, f"{day}.flac")
    everything += [
        call("long call", started_at=NOW - 9 * DAY_S, state="live"),
        call("stray, old", started_at=0.0, state="ringing", state_at=NOW - 9 * DAY_S),
        call("stray, new", started_at=0.0, state="ringing", state_at=NOW - 9),
    ]
    store(database, *everything)
    with database.begin() as session:
        for day in range(10):
            correct(session, HOUSE, f"day {day}/0/0", "sentiment", "negative", names=NAMES)
    return database


def files(settings: Settings) -> int:
    return len(list(Path(settings.recordings_url).iterdir()))


def test_for_ever_unless_told(filled: Database, database_settings: Settings) -> None:
    assert not prune(filled, database_settings, "test")
    assert not due(filled, database_settings)
    assert files(database_settings) == 10


def test_calls_go_with_all_that_belongs_to_them(filled: Database, database_settings: Settings) -> None:
    settings = keeping(database_settings, keep_calls_days=5)
    expected = due(filled, settings)
    assert (expected.calls, expected.recordings, expected.dead_letters) == (6, 5, 5)
    pruned = prune(filled, settings, "test", NOW)
    assert (pruned.calls, pruned.recordings, pruned.customers, pruned.dead_letters) == (6, 5, 5, 5)
    left = rows(filled)
    days = {f"day {day}" for day in range(5)}
    assert left["calls"].keys() == {*days, "long call", "stray, new"}
    for table in ("sentences", "alerts", "notes", "dead_letters"):
        assert {row["call"] for row in left[table].values()} == days
    assert {row["call"] for row in rows(filled, "labels")["labels"].values()} == days
    never = {f"never called {day}" for day in range(10)}  # put in by hand: nothing of theirs is past its time
    assert left["customers"].keys() == {f"c{day}" for day in range(5)} | never
    assert files(settings) == 5
    told = [row for row in rows(filled, "audit")["audit"].values() if row["action"] == "retention.pruned"]
    assert [(row["who"], row["detail"]["calls"]) for row in told] == [("test", 6)]
    assert not prune(filled, settings, "test", NOW)


def test_words_leave_the_file_too(sqlite_settings: Settings) -> None:
    settings = keeping(sqlite_settings, keep_calls_days=5)
    database = open_database(settings)
    words = {"old": "quetzalcoatlus", "new": "archaeopteryx"}
    for name, word in words.items():
        at = NOW - (9 * DAY_S if name == "old" else 0)
        many = (sentence(name, 1000 * n, text=f"the {word} number {n}") for n in range(50))
        store(database, call(name, started_at=at, state="analysed"), *many)
    assert not tidy(database, "test", NOW)  # nothing was deleted
    assert prune(database, settings, "test", NOW).calls == 1
    assert tidy(database, "test", NOW)
    assert not tidy(database, "test", NOW + 60)
    content = b"".join(file.read_bytes() for file in settings.home.glob("tenor.db*"))
    assert (words["old"].encode() in content, words["new"].encode() in content) == (False, True)
    database.close()


def test_recordings_may_go_sooner(filled: Database, database_settings: Settings) -> None:
    settings = keeping(database_settings, keep_recordings_days=3)
    (Path(settings.recordings_url) / "7.flac").unlink()  # somebody was faster
    pruned = prune(filled, settings, "test", NOW)
    assert (pruned.calls, pruned.recordings) == (0, 6)
    left = rows(filled)["calls"]
    assert len(left) == 13
    assert {name for name, row in left.items() if row["recording"]} == {"day 0", "day 1", "day 2"}


def test_the_audit_trail(filled: Database, database_settings: Settings) -> None:
    settings = keeping(database_settings, keep_audit_days=4)
    assert due(filled, settings).audit == prune(filled, settings, "test", NOW).audit == 6
    actions = [row["action"] for row in rows(filled, "audit")["audit"].values()]
    assert (actions.count("call.listened"), actions.count("retention.pruned")) == (4, 1)


@pytest.mark.slow
def test_the_command(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    database = open_database(settings)
    store(database, call("old", started_at=1.0, state="analysed"), call("new", started_at=NOW, state="analysed"))
    options = ("--home", tmp_path, "--set", "storage.keep_calls_days=7", "db", "prune")
    said = tenor(*options, "--dry-run", cwd=tmp_path)
    assert (said.returncode, "calls         1" in said.stdout) == (0, True)
    assert len(rows(database)["calls"]) == 2
    said = tenor(*options, cwd=tmp_path)
    assert "calls         1" in said.stdout
    assert list(rows(database)["calls"]) == ["new"]
    database.close()
