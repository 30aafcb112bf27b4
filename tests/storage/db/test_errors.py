"""A database that cannot be used says so in a line, with the way out, and never its password."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine
from typer.testing import CliRunner

from deploy.postgres.server import Server
from storage.db.engine import open_database
from tenor.cli.app import app
from tenor.errors import BadInput, Refused, TenorError, Unavailable
from tenor.runtime.batch import result_store
from tenor.settings import Settings, StorageSettings


def opening(url: str) -> TenorError:
    """What is said when that database is opened."""
    with pytest.raises(TenorError) as caught:
        open_database(Settings(storage=StorageSettings(url=url)))
    assert "s3cret" not in caught.value.message + caught.value.hint
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("tenor.db", "no address"),
        ("http://example.com/db", "cannot be reached by http"),
        ("mysql://root:s3cret@host/db", "cannot be reached by mysql"),
        ("sqlite://", "names no file"),
        ("sqlite:///:memory:", "names no file"),
        ("postgresql://u:s3cret@host:port/db", "no address"),
    ],
)
def test_a_url_that_is_none(url: str, said: str) -> None:
    error = opening(url)
    assert isinstance(error, BadInput)
    assert said in error.message


def test_files_that_cannot_be_databases(tmp_path: Path) -> None:
    picture = tmp_path / "picture.png"
    picture.write_bytes(b"\x89PNG" * 500)
    assert "nor any SQLite file" in opening(f"sqlite:///{picture}").message
    assert "is a folder" in opening(f"sqlite:///{tmp_path}").message
    assert "cannot make the folder" in opening(f"sqlite:///{picture}/deeper/tenor.db").message
    # Not even root writes here.
    assert "cannot write the database /proc/tenor.db" in opening("sqlite:////proc/tenor.db").message


@contextmanager
def pages(limit: int) -> Iterator[None]:
    """Databases opened inside have room for so many pages, as on a disk that is full."""

    def restrict(connection: sqlite3.Connection, _: object) -> None:
        connection.execute(f"PRAGMA max_page_count={limit}")

    event.listen(Engine, "connect", restrict)
    try:
        yield
    finally:
        event.remove(Engine, "connect", restrict)


def test_a_full_disk(tmp_path: Path) -> None:
    with pages(10):
        error = opening(f"sqlite:///{tmp_path}/tenor.db")
    assert isinstance(error, Unavailable)
    assert "no space left" in error.message
    open_database(Settings(storage=StorageSettings(url=f"sqlite:///{tmp_path}/tenor.db"))).close()  # all or nothing


def test_a_disk_that_fills_up_during_a_command(tmp_path: Path) -> None:
    with pages(80):
        done = CliRunner().invoke(app, ["--home", str(tmp_path), "sample", "add"])
    assert isinstance(done.exception, Unavailable)
    assert "no space left" in done.exception.message


@pytest.mark.slow
def test_a_disk_that_fills_up_during_a_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told, instead of being waited for without end; the next run goes on."""
    monkeypatch.setattr(result_store, "PATIENCE_S", 0.3)
    with (tmp_path / "many.csv").open("w") as table:
        table.write("call,role,text\n")
        table.writelines(f"{call},customer,{'My parcel is late again. ' * 9}\n" for call in range(40))
    analyze = ["--home", str(tmp_path), "analyze", "--store", str(tmp_path / "many.csv")]
    open_database(Settings(home=tmp_path)).close()
    with sqlite3.connect(tmp_path / "tenor.db") as connection:
        size = connection.execute("PRAGMA page_count").fetchone()[0]
    with pages(size + 20):
        done = CliRunner().invoke(app, analyze)
    assert isinstance(done.exception, Unavailable)
    assert "no space left" in done.exception.message
    assert "free some space" in done.exception.hint
    assert CliRunner().invoke(app, analyze).exit_code == 0
    with sqlite3.connect(tmp_path / "tenor.db") as connection:
        assert connection.execute("SELECT count(*), sum(sentences) FROM calls").fetchone() == (40, 360)


@pytest.mark.postgres
def test_a_server_that_does_not_let_us_in(postgres: Server, unused_tcp_port: int) -> None:
    url = postgres.url("newest")
    away = opening(url.replace(str(postgres.port), str(unused_tcp_port)))
    assert isinstance(away, Unavailable)
    assert "no PostgreSQL answers" in away.message
    assert "refused" in away.message
    wrong = opening(url.replace(":s3cret@", ":wrong@"))
    assert isinstance(wrong, Refused)
    assert "does not let 'tenor' in" in wrong.message
    missing = opening(postgres.url("nowhere"))
    assert isinstance(missing, Refused)
    assert "no database 'nowhere'" in missing.message
    assert "createdb nowhere" in missing.hint
