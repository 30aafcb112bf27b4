"""A home folder of version 0.2, opened by this version: the same calls, the same labels, and work goes on where it was.

What is in the folder and how it was made: home_0_2/README.md.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import soundfile

from dashboard.auth.accounts import Accounts
from storage.db import schema
from storage.db.engine import open_database
from storage.privacy import tombstones
from storage.queries import calls, history
from storage.search import SearchQuery, search
from storage.search.saved import saved
from storage.viewer import HOUSE
from tenor.layers import load
from tenor.settings import Settings
from tests.asr.scripted_riva import ScriptedRiva, silence, speak
from tests.nlp.webhooks.web import serving, status
from tests.storage.writing import rows
from tests.tenor.cli.command import environment, tenor
from tests.watching import until

pytestmark = pytest.mark.slow

ARCHIVE = Path(__file__).parent / "home_0_2" / "home.tar.xz"
IN_FLIGHT = ("in-flight", "in-flight-too")
CALLER = (
    ("hello i would like to cancel my order", "service was terrible today"),
    ("i would like to speak with an agent", "my card number is four two four two", "okay thanks bye"),
)
"""What the caller said in the calls in flight before 0.2 was stopped, and afterwards."""
OVERLAP = 640
"""Samples of the second half that lie before the end of the first: each position is kept once."""


class OldHome(NamedTuple):
    folder: Path
    settings: Settings
    left: dict[str, Any]
    """By 0.2: `before` it was stopped, and `after` it had gone on by itself."""


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OldHome:
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    bus = sqlite3.connect(tmp_path / ".tenor" / "bus.db")
    with bus:  # as if it had been stopped a minute ago: the bus keeps audio for hours only
        bus.execute("UPDATE records SET at = at + ? - (SELECT max(at) FROM records)", (time.time() - 60,))
    bus.close()
    monkeypatch.chdir(tmp_path)
    left = json.loads((tmp_path / "left_by_0_2.json").read_text())
    return OldHome(tmp_path, load({}, environment={}).settings, left)


def test_settings_that_users_wrote_are_understood(old: OldHome) -> None:
    assert old.settings.language.classifiers == {"aspect": "nlp.aspects:Aspects"}
    assert old.settings.speech.redact_queues == {"payments": "audio"}
    shown = tenor("config", cwd=old.folder)
    assert (shown.returncode, "nlp.aspects:Aspects" in shown.stdout) == (0, True), shown.stderr
    checked = tenor("rules", "check", "rules.yaml", cwd=old.folder)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.slow
def test_calls_people_and_labels_are_as_they_were(old: OldHome) -> None:
    before = old.left["before"]
    database = open_database(old.settings)
    assert schema.version(database.engine).current
    same(before["rows"], rows(database))
    with database.session() as session:
        whole = calls.whole(session, HOUSE, "finished")
        assert whole is not None
        assert [whole.said(sentence) for sentence in whole.sentences] == before["said"]
        assert [hit.sentence for hit in search(session, HOUSE, SearchQuery(words="horrible")).hits] == [
            "finished/0/3420"
        ]
        assert [one.query.words for one in saved(session, "mia")] == ["horrible"]
        assert tombstones.is_erased(session, "gone")
        assert history.agents(session, HOUSE)["ann"].name == "Ann Arbor"
    mia = Accounts(database).check("mia", "not a real password")
    assert (mia and mia.role) == "manager"
    database.close()
    status = tenor("db", "status", cwd=old.folder)
    assert status.returncode == 0, status.stdout
    exported = tenor("export", "finished", cwd=old.folder)
    same(before["document"], json.loads(exported.stdout))


def test_an_upgraded_database_is_made_of_the_same_as_a_new_one(old: OldHome, tmp_path: Path) -> None:
    def made_of(settings: Settings) -> set[str]:
        database = open_database(settings)
        with database.engine.connect() as connection:
            found = connection.exec_driver_sql("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").scalars().all()
        database.close()
        return {" ".join(definition.split()) for definition in found}

    assert made_of(old.settings) == made_of(Settings(home=tmp_path / "new"))


@pytest.mark.slow
@pytest.mark.timeout(240)
async def test_calls_in_flight_are_heard_to_their_end(old: OldHome) -> None:
    after = old.left["after"]
    database = open_database(old.settings)

    def done() -> bool:
        found = rows(database, "calls", "notes")
        over = all(found["calls"][call]["state"] == "analysed" for call in (*IN_FLIGHT, "paused"))
        recorded = all(found["calls"][call]["recorded"] for call in IN_FLIGHT)
        return over and recorded and found["calls"]["paused"]["sentences"] == 9 and "n-2" in found["notes"]

    async with ScriptedRiva() as riva, serving(crm=[status(200)]) as web:
        variables = {
            **environment(),
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "TENOR_SPEECH__ADDRESS": riva.address,
            "TENOR_LANGUAGE__WEBHOOKS": json.dumps({"crm": web.url("/crm")}),
            "TENOR_TELEMETRY__LOG_LEVEL": "error",
        }
        command = [sys.executable, "-m", "tenor", "serve", "asr", "language", "webhooks", "storage", "recordings"]
        log = old.folder / "serve.log"
        with log.open("wb") as file:
            serving_process = subprocess.Popen(command, cwd=old.folder, env=variables, stdout=file, stderr=file)
        try:
            await until(done, timeout_s=200)
            await until(lambda: len(web.requests) >= len(after["alerts_sent"]), timeout_s=30)
        finally:
            serving_process.kill()
            serving_process.wait()
        assert sorted(json.loads(request.body)["id"] for request in web.requests) == after["alerts_sent"]
    found = rows(database)
    database.close()
    # 0.2 forgot who was on a call that went on after a restart; what was said in it is what counts here.
    del after["rows"]["calls"]["paused"]
    same(after["rows"], found, other_model=True)
    for call in IN_FLIGHT:
        recording = Path(old.settings.recordings_url) / found["calls"][call]["recording"]
        heard, _ = soundfile.read(recording, dtype="int16")
        before, since = (
            np.frombuffer(b"".join(speak(line) + silence(1500) for line in half), np.int16) for half in CALLER
        )
        assert np.array_equal(heard[:, 0], np.concatenate([before, since[OVERLAP:]]))


def same(old: Any, new: Any, place: str = "$", *, other_model: bool = False) -> None:
    """What 0.2 had is there and has not changed; models may differ a little on another processor. `other_model`: what
    is said since is understood by today's model, so its answers may differ."""
    if isinstance(old, dict):
        assert old.keys() <= new.keys(), place
        for key, value in old.items():
            if not (other_model and _answered(key)):
                same(value, new[key], f"{place}.{key}", other_model=other_model)
    elif isinstance(old, list):
        assert len(old) == len(new), place
        for number, (one, other) in enumerate(zip(old, new, strict=True)):
            same(one, other, f"{place}[{number}]", other_model=other_model)
    elif isinstance(old, float):
        assert new == pytest.approx(old, abs=0.02), place
    else:
        assert old == new, place


def _answered(key: str) -> bool:
    """Whether the language model says it."""
    return key.startswith(("mood", "sentiment_", "intent", "task")) or key in ("sentiment", "slots", "labels", "models")
