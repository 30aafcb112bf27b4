"""What a person is given is all that is kept of them: everything an erasure then deletes, and nothing of others."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from sqlmodel import select
from typer.testing import CliRunner

from storage.archive.archiver import archive
from storage.datasets.making import make
from storage.db.engine import Database, open_database
from storage.privacy.erasure import erase
from storage.privacy.subject_access import AccessReport, give
from storage.snapshots.taking import take
from storage.tables import Audit, Turn
from storage.transfer.exporter import folder
from tenor.bus.opening import open_bus
from tenor.cli.app import app
from tenor.errors import BadInput
from tenor.settings import Settings
from tests.storage.conversations import START
from tests.storage.privacy.test_erasure import CUSTOMER, NEIGHBOUR, SECRET, fill, found_in, published


async def given(database: Database, settings: Settings, out: Path, customer: str = CUSTOMER) -> AccessReport:
    async with open_bus(settings) as bus:
        with folder(out) as sink:
            return await give(database, settings, bus, customer, sink, by="root")


async def test_it_has_all_that_an_erasure_deletes(database_settings: Settings, tmp_path: Path) -> None:
    settings, database = database_settings, open_database(database_settings)
    with database.session() as session:
        fill(session, settings)
        turn = Turn(id="gone/1", call="gone", turn=1, at=START, input=f"a {SECRET}", slots={"item": SECRET})
        session.add(turn)
        session.commit()
    await published(settings)
    archive(database, settings)
    make(database, settings, "house", "", snapshot=take(settings, by="root").name, by="root")

    report = await given(database, settings, tmp_path / "person")
    files = {path.relative_to(tmp_path / "person").as_posix() for path in (tmp_path / "person").rglob("*.*")}
    assert {"index.html", "everything.json", "archive.json", "bus.json", "recordings/gone.flac"} <= files
    for name in ("index.html", "everything.json", "archive.json", "bus.json", "gone.flac"):
        assert name in found_in(tmp_path / "person", SECRET)
    assert found_in(tmp_path / "person", NEIGHBOUR) == []
    kinds = json.loads((tmp_path / "person" / "archive.json").read_text())
    assert {"sentences", "labels", "turns", "rows"} <= kinds.keys()

    receipt = await erase(database, settings, by="root", customer=CUSTOMER)
    report.rows["audit"] += 1  # that it was handed out is on record, too
    assert {table: report.rows[table] for table in receipt.rows} == receipt.rows
    assert set(report.rows) == set(receipt.rows)
    assert report.recordings == receipt.recordings
    assert sum(report.bus.values()) == receipt.bus_records
    rows = {kind: count for kind, count in report.archive.items() if kind not in ("audio", "rows")}
    assert (sum(rows.values()), report.sounds) == (receipt.copies["archive"], receipt.copies["audio"])
    with pytest.raises(BadInput, match="nothing is kept"):
        await given(database, settings, tmp_path / "again")
    database.close()


def test_the_command(sqlite_settings: Settings, tmp_path: Path) -> None:
    database = open_database(sqlite_settings)
    with database.session() as session:
        fill(session, sqlite_settings)
    out = tmp_path / "person.zip"
    home = ["--home", str(sqlite_settings.home)]
    done = CliRunner().invoke(app, [*home, "export", "--customer", CUSTOMER, "--out", str(out)])
    assert done.exit_code == 0, done.output
    with zipfile.ZipFile(out) as made:
        assert {"index.html", "everything.json", "recordings/gone.flac"} <= set(made.namelist())
        assert SECRET in made.read("index.html").decode()
    with database.session() as session:
        assert session.exec(select(Audit.subject).where(Audit.action == "customer.exported")).all() == [CUSTOMER]
    database.close()
    for wrong in (["--out", "-"], ["--out", str(out), "--format", "csv"], ["--out", str(out), "gone"]):
        refused = CliRunner().invoke(app, [*home, "export", "--customer", CUSTOMER, *wrong])
        assert isinstance(refused.exception, BadInput), refused.output
