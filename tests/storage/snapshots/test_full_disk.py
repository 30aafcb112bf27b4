"""The disk is full in the middle of `snapshot take`: it says so, what was there is whole, and the command goes on when
there is space again."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from storage.archive.archiver import archive
from storage.archive.parts import newest, root_hash
from storage.db.engine import open_database
from storage.place import Place
from storage.snapshots import listing, take, verify
from tenor.errors import Unavailable
from tenor.settings import LearnSettings, Settings
from tests.storage.conversations import START, add_call

SIZE = 2 << 20
MODEL = 300_000


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, which only root may make."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no file system can be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@contextmanager
def full(folder: Path, left: int) -> Iterator[None]:
    """Only so many bytes are free."""
    filler = folder / "filler"
    free = os.statvfs(folder)
    with filler.open("wb") as file:
        file.write(bytes(max(0, free.f_bavail * free.f_frsize - left)))
    yield
    filler.unlink()


@contextmanager
def limited(left: int) -> Iterator[None]:
    """No file grows beyond this: what anybody can try without root."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (left, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def filled(settings: Settings, learn: Path) -> Settings:
    database = open_database(settings)
    with database.session() as session:
        for number in range(5):
            add_call(session, f"kept-{number}", "A sentence that stays.", started_at=START + number * 86_400)
        session.commit()
    changed = settings.model_copy(update={"learn": LearnSettings(url=str(learn))})
    archive(database, changed)
    database.close()
    return changed


def check(settings: Settings, tmp_path: Path, left: int, disk: Path | None) -> None:
    place = Place(settings.learn_url)
    first, before = take(settings, by="root").name, root_hash(newest(place).parts)
    model = tmp_path / "model.bin"
    model.write_bytes(os.urandom(MODEL))
    with full(disk, left) if disk else limited(left):
        for files in ({"model.bin": model}, {}) if left == 0 else ({"model.bin": model},):
            with pytest.raises(Unavailable, match="no space left") as told:
                take(settings, by="root", job="nightly", files=files)
            assert "free some space" in told.value.hint
        assert [one.name for one in listing(place)] == [first]
        assert verify(place, first).sound
        assert root_hash(newest(place).parts) == before
        assert not list(Path(settings.learn_url).rglob("*.part"))
    again = take(settings, by="root", job="nightly", files={"model.bin": model})
    assert verify(place, again.name).sound
    assert [one.name for one in listing(place)] == [first, again.name]


@pytest.mark.parametrize("left", [0, 100_000])
def test_a_disk_that_is_full(sqlite_settings: Settings, small_disk: Path, tmp_path: Path, left: int) -> None:
    check(filled(sqlite_settings, small_disk / "learn"), tmp_path, left, small_disk)


def test_a_file_that_cannot_grow(sqlite_settings: Settings, tmp_path: Path) -> None:
    check(filled(sqlite_settings, tmp_path / "learn"), tmp_path, 100_000, None)
