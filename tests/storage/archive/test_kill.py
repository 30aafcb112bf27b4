"""An archive that is killed again and again in the middle of its work ends in the same bytes as one that was not."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from storage.archive.archiver import archive
from storage.archive.blobs import BlobStore
from storage.archive.parts import newest, root_hash
from storage.archive.references import named_blobs
from storage.db.engine import open_database
from storage.place import Place
from tenor.settings import LearnSettings, Settings
from tests.storage.conversations import START, add_call
from tests.tenor.cli.command import environment

pytestmark = pytest.mark.slow


def test_killed_anywhere_the_result_is_the_same(sqlite_settings: Settings) -> None:
    database = open_database(sqlite_settings)
    with database.session() as session:
        for number in range(300):
            add_call(session, f"call-{number}", *(["Some words."] * 5), started_at=START + number * 86_400)
        session.commit()
    undisturbed = sqlite_settings.model_copy(update={"learn": LearnSettings(url=f"{sqlite_settings.home}/undisturbed")})
    archive(database, undisturbed)
    place = Place(sqlite_settings.learn_url)
    chance = random.Random(3)
    seen = []
    for _ in range(6):
        before = newest(place).number
        running = subprocess.Popen([sys.executable, "-m", "tenor", "archive"], cwd=Path(__file__).parents[3], env={
            **environment(), "TENOR_HOME": str(sqlite_settings.home), "PYTHONPATH": os.getcwd(),
        }, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        wanted = before + chance.randrange(1, 30)
        limit = time.monotonic() + 60
        while newest(place).number < wanted and running.poll() is None and time.monotonic() < limit:
            time.sleep(0.002)
        running.kill()
        running.wait()
        (Path(sqlite_settings.learn_url) / "blobs" / "00").mkdir(parents=True, exist_ok=True)
        (Path(sqlite_settings.learn_url) / "blobs" / "00" / ".00.1.part").write_bytes(b"half a blob")
        seen.append(newest(place).number)
        for part in newest(place).parts:
            assert BlobStore(place).fault(part.sha256) == "", "what is there can be used after every kill"
    assert len(set(seen)) > 1, "it was killed in the middle"

    archive(database, sqlite_settings)

    assert root_hash(newest(place).parts) == root_hash(newest(Place(undisturbed.learn_url)).parts)
    assert set(BlobStore(place).all()) == named_blobs(place).found
    assert list(Path(sqlite_settings.learn_url).rglob("*.part")) == []
    database.close()
