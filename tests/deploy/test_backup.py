"""A backup as docs/production.md makes it, and what is there again once it is restored."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import psycopg
import pytest

from deploy.postgres.server import Server
from tests.conftest import postgres_database
from tests.tenor.cli.command import tenor

pytestmark = [pytest.mark.postgres, pytest.mark.slow]


def everything(url: str) -> dict[str, list[Any]]:
    """All rows of all tables."""
    with psycopg.connect(url) as connection:
        names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        return {
            name: sorted(connection.execute(f'SELECT to_jsonb(t)::text FROM "{name}" t'.encode()).fetchall())
            for (name,) in names
        }


def test_a_dump_and_a_copy_of_the_volume_bring_everything_back(postgres: Server, tmp_path: Path) -> None:
    url, volume = postgres_database(postgres), tmp_path / "volume"

    def run(where: Path, database: str, *words: str) -> Any:
        options = ("--home", str(where), "--set", f"storage.url={database}")
        done = tenor(*options, *words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout) if "--json" in words else done.stdout

    run(volume, url, "sample", "add", "--weeks", "1")
    assert run(volume, url, "archive", "--json")["archive"]["changed_days"] > 0
    status = run(volume, url, "db", "status")
    before = everything(url)
    assert len(before["sentences"]) > 50

    dump, copy = tmp_path / "tenor.dump", tmp_path / "restored"
    subprocess.run(["pg_dump", "--format=custom", f"--file={dump}", url], check=True)
    shutil.copytree(volume, copy)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("TRUNCATE calls, sentences CASCADE")
    shutil.rmtree(volume)

    again = postgres_database(postgres, like="template0")
    subprocess.run(["pg_restore", "--no-owner", f"--dbname={again}", str(dump)], check=True)
    assert everything(again) == before
    assert run(copy, again, "db", "status").splitlines()[1:] == status.splitlines()[1:]
    assert run(copy, again, "archive", "--json")["archive"]["changed_days"] == 0, "what was archived is there"
