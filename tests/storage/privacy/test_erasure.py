"""What was erased cannot be found again: not in the tables, not in the files, not on the bus, not in the receipt."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlmodel import Session, SQLModel, select

from deploy.postgres.server import Server
from storage.db import vacuum
from storage.db.engine import Database, open_database
from storage.privacy import tombstones
from storage.privacy.erasure import Receipt, erase
from storage.search import SearchQuery, saved, search
from storage.tables import Audit, Call, Customer, DeadLetter, Sentence
from storage.viewer import HOUSE
from tenor.bus.opening import open_bus
from tenor.errors import BadInput, Refused, Unavailable
from tenor.events import NOTES, Note
from tenor.settings import BusSettings, Settings
from tests.storage.conversations import START, add_alert, add_call, add_label, add_note

SECRET = "xylophonist"
"""A word that only the erased call has."""
CUSTOMER = "555-0199-424242"
NEIGHBOUR = "zebrafinch"


def fill(session: Session, settings: Settings) -> None:
    recordings = Path(settings.recordings_url)
    recordings.mkdir(parents=True)
    for name, word, customer in (("gone", SECRET, CUSTOMER), ("kept", NEIGHBOUR, "555-0111")):
        (recordings / f"{name}.flac").write_bytes(word.encode() * 1000)
        lines = [f"I am the {word} number {number}." for number in range(200)]
        add_call(session, name, *lines, customer=customer, recording=f"{name}.flac", attributes={"file": word})
        session.add(Customer(id=customer, display_name=word))
        add_label(session, f"{name}/0/0", "text", f"I am the {word} corrected.")
        add_alert(session, name, word, sentence=f"{name}/0/0")
        add_note(session, name, f"Help the {word}!")
        session.add(
            DeadLetter(id=f"t/0/{word}", call=name, stage="s", reason=word, topic="t", partition=0, offset=1, at=START)
        )
        session.add(Audit(at=START, who="mia", action="call.listened", subject=name))
        session.add(Audit(at=START, who="mia", action="label.made", subject=f"{name}/0/0", detail={"word": word}))
        session.add(Audit(at=START, who="mia", action="call.exported", subject="", detail={"calls": [name]}))
    session.commit()
    saved.save(session, "mia", "that one", SearchQuery(customer=(CUSTOMER,)))
    saved.save(session, "mia", "by number", SearchQuery(words=f'"{CUSTOMER}" refund'))
    saved.save(session, "mia", f"calls of {SECRET}", SearchQuery(words="refund"))
    saved.save(session, "mia", "another", SearchQuery(words="refund"))


async def published(settings: Settings) -> None:
    async with open_bus(settings) as bus:
        for name, word in (("gone", SECRET), ("kept", NEIGHBOUR)):
            await bus.publish(NOTES, Note(call=name, note="1", author="mia", text=word, at=START))


def found_in(folder: Path, word: str) -> list[str]:
    """Files that hold the word."""
    return [path.name for path in folder.rglob("*") if path.is_file() and word.encode() in path.read_bytes()]


def tables_with(database: Database, word: str) -> list[str]:
    with database.session() as session:
        names = [*SQLModel.metadata.tables, "fts_documents"]
        return [name for name in names if word in str(session.execute(text(f"SELECT * FROM {name}")).all())]


@pytest.mark.parametrize("by", [{"call": "gone"}, {"customer": CUSTOMER}], ids=["call", "customer"])
async def test_nothing_is_left(database_settings: Settings, by: dict[str, Any], request: pytest.FixtureRequest) -> None:
    database = open_database(database_settings)
    with database.session() as session:
        fill(session, database_settings)
    await published(database_settings)
    files = relation_files(request, database) if database.is_postgres else lambda: database_settings.home
    if database.is_postgres:
        with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("ANALYZE"))
            connection.execute(text("CHECKPOINT"))
    assert found_in(files(), SECRET)
    assert found_in(files(), CUSTOMER)

    receipt = await erase(database, database_settings, by="root", **by)

    for word in (SECRET, CUSTOMER):
        assert tables_with(database, word) == []
        assert found_in(files(), word) == []
        assert found_in(database_settings.home, word) == []
    assert tables_with(database, NEIGHBOUR)
    assert found_in(files(), NEIGHBOUR)
    with database.session() as session:
        assert tombstones.is_erased(session, "gone")
        assert not session.get(Call, "gone")
        assert search(session, HOUSE, SearchQuery(words=SECRET)).hits == []
        assert len(search(session, HOUSE, SearchQuery(words=NEIGHBOUR), limit=500).hits) == 200
        trail = session.exec(select(Audit)).all()
        assert [one.name for one in saved.saved(session, "mia")] == ["another"]
    assert sum(row.subject == tombstones.fingerprint("gone") for row in trail) == 4
    assert [row.detail for row in trail if row.action == "call.erased"] == [{"receipt": receipt.receipt}]
    check_receipt(receipt, database_settings)

    again = await erase(database, database_settings, by="root", call="gone")
    assert again.rows["calls"] == 0
    database.close()


def check_receipt(receipt: Receipt, settings: Settings) -> None:
    expected = {"calls": 1, "sentences": 200, "labels": 1, "notes": 1, "alerts": 1, "dead_letters": 1, "customers": 1}
    assert {name: receipt.rows[name] for name in expected} == expected
    assert receipt.rows["searches"] == 3
    assert (receipt.recordings, receipt.bus_records, receipt.bus_kept_until) == (1, 1, None)
    assert not (Path(settings.recordings_url) / "gone.flac").exists()
    (file,) = (settings.home / "receipts").iterdir()
    assert json.loads(file.read_text())["fingerprints"] == [tombstones.fingerprint("gone")]


def relation_files(request: pytest.FixtureRequest, database: Database) -> Callable[[], Path]:
    """Where PostgreSQL keeps this database's tables and indexes."""
    server: Server = request.getfixturevalue("postgres")
    with database.session() as session:
        oid = session.execute(text("SELECT oid FROM pg_database WHERE datname = current_database()")).scalar()
    return lambda: server.data / "cluster" / "base" / str(oid)


async def test_a_call_that_is_not_over_is_refused(database: Database, database_settings: Settings) -> None:
    with database.begin() as session:
        add_call(session, "now", "hello", state="live", customer="c")
    with pytest.raises(Refused, match="not over"):
        await erase(database, database_settings, by="root", call="now")
    with pytest.raises(Refused, match="1 of these calls"):
        await erase(database, database_settings, by="root", customer="c")
    await erase(database, database_settings, by="root", call="now", force=True)
    with database.session() as session:
        assert not session.get(Call, "now")


async def test_what_is_not_there(database: Database, database_settings: Settings) -> None:
    with pytest.raises(BadInput, match="no call 'nothing'"):
        await erase(database, database_settings, by="root", call="nothing")
    with pytest.raises(BadInput, match="no customer 'nobody'"):
        await erase(database, database_settings, by="root", customer="nobody")


async def test_a_customer_with_other_calls_stays_when_one_is_erased(
    database: Database, database_settings: Settings
) -> None:
    with database.begin() as session:
        add_call(session, "one", "hello", customer="c")
        add_call(session, "two", "hello again", customer="c")
        session.add(Customer(id="c", display_name="Carla"))
    await erase(database, database_settings, by="root", call="one")
    with database.session() as session:
        assert session.get(Customer, "c")
    receipt = await erase(database, database_settings, by="root", customer="c")
    assert receipt.rows["calls"] == 1
    with database.session() as session:
        assert not session.get(Customer, "c")
        assert not session.get(Sentence, "two/0/0")


async def test_what_other_keepers_hold_and_what_kafka_keeps_is_on_the_receipt(sqlite_settings: Settings) -> None:
    database = open_database(sqlite_settings)
    with database.begin() as session:
        add_call(session, "one", "hello")
    asked: list[Any] = []

    async def partner(calls: Any) -> int:
        asked.append(list(calls))
        return 3

    on_kafka = sqlite_settings.model_copy(update={"bus": BusSettings(url="kafka://127.0.0.1:1")})
    receipt = await erase(database, on_kafka, by="root", call="one", copies={"partner": partner})
    assert (asked, receipt.copies) == ([["one"]], {"archive": 0, "audio": 0, "partner": 3})
    assert receipt.bus_kept_until is not None
    assert receipt.bus_kept_until > receipt.at
    database.close()


async def test_it_waits_until_nobody_reads_the_old_pages(sqlite_settings: Settings) -> None:
    database = open_database(sqlite_settings)
    with database.begin() as session:
        add_call(session, "one", SECRET)
    reading = sqlite3.connect(sqlite_settings.home / "tenor.db", isolation_level=None)
    reading.execute("BEGIN")
    assert reading.execute("SELECT id FROM calls").fetchall()  # sees the call until it ends
    erasing = asyncio.create_task(erase(database, sqlite_settings, by="root", call="one"))
    await asyncio.sleep(0.5)
    assert not erasing.done()
    reading.close()
    await erasing
    assert found_in(sqlite_settings.home, SECRET) == []
    database.close()


async def test_a_database_that_cannot_be_compacted_now_is_told_and_compacted_later(
    sqlite_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = open_database(sqlite_settings)
    with database.begin() as session:
        add_call(session, "one", SECRET)
    compact = vacuum.compact

    def away(_: Database) -> list[str]:
        raise Unavailable("the database is locked by another process")

    monkeypatch.setattr(vacuum, "compact", away)
    with pytest.raises(Unavailable, match=r"erased \(receipt \w+\), but the database is locked"):
        await erase(database, sqlite_settings, by="root", call="one")
    (file,) = (sqlite_settings.home / "receipts").iterdir()
    assert json.loads(file.read_text())["database_compacted"] is False
    compact(database)
    assert found_in(sqlite_settings.home, SECRET) == []
    database.close()


async def test_what_was_interrupted_is_completed_by_the_same_command(
    database: Database, database_settings: Settings
) -> None:
    with database.begin() as session:
        add_call(session, "one", SECRET, customer=CUSTOMER)

    async def dies(_: Any) -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await erase(database, database_settings, by="root", customer=CUSTOMER, copies={"partner": dies})
    with database.session() as session:
        assert tombstones.is_erased(session, "one")  # what the bus still says of it is not written again
    receipt = await erase(database, database_settings, by="root", customer=CUSTOMER)
    assert receipt.rows["calls"] == 1
    assert tables_with(database, SECRET) == []
