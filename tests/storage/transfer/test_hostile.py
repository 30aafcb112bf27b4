"""Calls of others that are made to break an import: each is refused in a line, in little memory, and stops no other."""

from __future__ import annotations

import json
import random
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import Session

from storage.db.engine import Database
from storage.queries import calls
from storage.tables import Call
from storage.transfer import importer
from storage.transfer.document import document_of
from storage.transfer.importer import FoundDocument
from storage.viewer import HOUSE
from tenor.errors import BadInput
from tenor.settings import Settings
from tests.storage.conversations import add_call


def zipped(path: Path, **contents: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in contents.items():
            made.writestr(f"{name}.json", content)
    return path


def faults(path: Path) -> dict[str, str]:
    """What is said of each document in a file; empty for what is taken out whole."""
    found = {}
    for document in importer.documents(path):
        try:
            importer.read(document)
        except BadInput as error:
            found[document.place.rpartition(":")[2]] = error.message
    return found


@pytest.mark.parametrize("size", [20_000_000, 60_000_000])
def test_a_zip_that_unpacks_to_gigabytes_of_objects(tmp_path: Path, size: int) -> None:
    """Lists of nothing take two bytes to write, a hundred in memory, and hardly any in a zip."""
    drawn = random.Random(1)
    nothing = b"".join(b"[]," * drawn.randint(100, 200) + b"1," * drawn.randint(1, 3) for _ in range(size // 450))
    bomb = b'{"tenor": "call", "version": 1, "call": [' + nothing + b"0]}"
    path = zipped(tmp_path / "bomb.zip", bomb=bomb, other=b"{}")
    assert path.stat().st_size < size / 100
    del bomb, nothing
    tracemalloc.start()
    found = faults(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "no call does" in found["bomb.json"]
    assert "no call of Tenor" in found["other.json"]
    assert peak < 3 * size


def test_a_document_that_is_broken_in_a_zip_stops_no_other(tmp_path: Path) -> None:
    path = zipped(
        tmp_path / "calls.zip", first=b"{}", second=b"[" * 2000 + random.Random(1).randbytes(2000), last=b"{}"
    )
    content = bytearray(path.read_bytes())
    middle = content.index(b"second.json") + 1000
    content[middle : middle + 20] = bytes(20)
    path.write_bytes(content)
    found = faults(path)
    assert list(found) == ["first.json", "second.json", "last.json"]
    assert "second.json cannot be read" in found["second.json"]


def test_one_document_that_is_named_a_thousand_times(tmp_path: Path) -> None:
    """All entries point at the same bytes."""
    path = tmp_path / "many.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("0.json", bytes(5_000_000).replace(b"\0", b" "))
        (entry,) = made.infolist()
        made.filelist += [entry] * 2000
    assert path.stat().st_size < 200_000
    with pytest.raises(BadInput, match=r"would unpack to \d+ MB: no calls do"):
        list(importer.documents(path))


def test_whatever_reading_raises_is_the_documents_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(given: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(importer, "read_document", fails)
    with pytest.raises(BadInput, match="a file cannot be read: ZeroDivisionError"):
        importer.read(FoundDocument("a file", b"{}"))


def test_what_no_database_takes_is_the_documents_error(
    database: Database, database_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database.begin() as session:
        add_call(session, "one", "hello there")
        add_call(session, "two", "hello there")
    made = {}
    with database.session() as session:
        for call in ("one", "two"):
            whole = calls.whole(session, HOUSE, call)
            assert whole
            made[call] = document_of(session, whole)
    with database.begin() as session:
        for call in made:
            session.delete(session.get_one(Call, call))
    # A sentence of another call's, which only the database knows of.
    made["two"]["sentences"][0]["id"] = made["one"]["sentences"][0]["id"]
    outcomes = []
    for document in map(json.dumps, made.values()):
        try:
            read = importer.read(FoundDocument("file", document.encode()))
            outcomes.append(importer.store(database, database_settings, read, by="ann").outcome)
        except BadInput as error:
            outcomes.append(error.message)  # type: ignore[arg-type]
    assert outcomes[0] == "imported"
    assert "call 'two' holds what no database takes" in outcomes[1]
    assert there(database, "one")
    assert not there(database, "two")


def there(database: Database, call: str) -> bool:
    session: Session
    with database.session() as session:
        return session.get(Call, call) is not None
