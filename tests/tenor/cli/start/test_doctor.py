"""`tenor doctor` says what is wrong, and the way out."""

from __future__ import annotations

import json
import sqlite3
import tomllib
from contextlib import closing
from pathlib import Path

import pytest

from tenor.cli import own_packages
from tests.tenor.cli.command import tenor

pytestmark = pytest.mark.slow


@pytest.mark.slow
def test_doctor_finds_a_working_installation(tmp_path: Path) -> None:
    done = tenor("doctor", "--json", cwd=tmp_path)
    findings = {finding["what"]: finding for finding in json.loads(done.stdout)}
    assert done.returncode == 0
    for what in ("environment", "bus", "speech models", "language model", "rules", "database"):
        assert findings[what]["verdict"] == "ok"
    assert findings["recogniser"]["remedy"]
    assert list(tmp_path.iterdir()) == []  # what is examined is not made


def test_doctor_leaves_an_older_database_as_it_is(tmp_path: Path) -> None:
    assert tenor("db", "upgrade", cwd=tmp_path).returncode == 0
    database = tmp_path / ".tenor" / "tenor.db"
    with closing(sqlite3.connect(database)) as opened, opened:
        opened.execute("UPDATE alembic_version SET version_num = '0013'")
    before = database.read_bytes()
    findings = {one["what"]: one for one in json.loads(tenor("doctor", "--json", cwd=tmp_path).stdout)}
    assert findings["database"]["verdict"] == "note"
    assert "0013" in findings["database"]["detail"]
    assert database.read_bytes() == before


def install(site: Path, name: str, *files: str) -> None:
    """As pip leaves another project's wheel."""
    for file in files:
        (site / file).parent.mkdir(parents=True, exist_ok=True)
        (site / file).write_text("raise ImportError('this is not ours')\n")
    info = site / f"{name.replace('-', '_')}-0.3.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.3\n")
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in (*files, f"{info.name}/METADATA")))


def test_doctor_tells_when_another_package_wrote_into_ours(tmp_path: Path) -> None:
    site = tmp_path / "site"
    install(site, "speech-kit", "asr/__init__.py", "asr/models.py", "speech_kit/__init__.py")
    install(site, "cloud-storage", "storage/__init__.py")
    install(site, "harmless", "harmless/__init__.py")
    done = tenor("doctor", cwd=tmp_path, site=site)
    assert done.returncode == 1
    _, said, way_out = done.stdout.splitlines()
    assert said.split(maxsplit=2) == [
        *("bad", "environment"),
        "cloud-storage, speech-kit installed files into Tenor's own packages: asr, storage",
    ]
    assert way_out.strip() == (
        "pip uninstall cloud-storage speech-kit, then install Tenor again, in an environment of its own"
    )


@pytest.mark.parametrize("command", [["doctor"], ["config"], ["serve", "asr"]])
@pytest.mark.slow
def test_no_command_starts_with_somebody_elses_package_in_place_of_ours(tmp_path: Path, command: list[str]) -> None:
    """Without `ingest` not even the doctor can be loaded."""
    site = tmp_path / "site"
    install(site, "data-ingest", "ingest/__init__.py")
    done = tenor(*command, cwd=tmp_path, site=site)
    assert done.returncode == 1
    said, way_out = done.stderr.splitlines()
    assert said == "error: data-ingest installed files into Tenor's own packages: ingest"
    assert way_out.strip() == "pip uninstall data-ingest, then install Tenor again, in an environment of its own"


def test_a_command_that_would_find_another_package_later_says_so_first(tmp_path: Path) -> None:
    (tmp_path / "site" / "storage").mkdir(parents=True)
    (tmp_path / "site" / "storage" / "__init__.py").touch()
    done = tenor("config", cwd=tmp_path, site=tmp_path / "site")
    assert done.returncode == 2
    said, way_out = done.stderr.splitlines()
    assert said.startswith(f"error: Python finds {tmp_path}/site/storage for `storage` instead of Tenor's own in ")
    assert way_out.strip() == "run Tenor from another folder, or in an environment of its own"


def test_every_package_that_is_installed_is_looked_at() -> None:
    project = tomllib.loads((own_packages.HERE / "pyproject.toml").read_text())
    included = project["tool"]["setuptools"]["packages"]["find"]["include"]
    assert sorted(own_packages.PACKAGES) == sorted(name for name in included if not name.endswith(".*"))


@pytest.mark.slow
def test_doctor_shows_names_with_brackets_as_they_are(tmp_path: Path) -> None:
    done = tenor("--home", tmp_path / "calls[old]", "doctor", cwd=tmp_path)
    assert f"{tmp_path}/calls[old], " in done.stdout
