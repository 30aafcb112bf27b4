"""With every snapshot ONTAP takes one of the volume, under the same name; a clone of it is a volume of its own."""

from __future__ import annotations

import importlib.util
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from storage.archive.archiver import archive
from storage.db.engine import open_database
from storage.place import Place
from storage.privacy.erasure import erase
from storage.snapshots import listing, ontap, take, verify
from tenor.errors import BadInput, Unavailable
from tenor.settings import LearnSettings, Settings
from tests.storage.conversations import add_call
from tests.storage.snapshots.ontap_server import PASSWORD, SVM, USER, Cluster, serving

THERE = importlib.util.find_spec("netapp_dataops") is not None


@pytest.fixture
def settings(sqlite_settings: Settings) -> Settings:
    database = open_database(sqlite_settings)
    with database.session() as session:
        add_call(session, "one", "Hello.")
        session.commit()
    archive(database, sqlite_settings)
    database.close()
    return sqlite_settings.model_copy(update={"learn": LearnSettings(ontap_volume="calls")})


@pytest.mark.skipif(THERE, reason="the toolkit is installed")
def test_without_the_toolkit_the_extra_is_named_and_no_snapshot_is_left(settings: Settings) -> None:
    with pytest.raises(BadInput) as caught:
        take(settings, by="root")
    assert "tenor[ontap]" in caught.value.hint
    assert list(listing(Place(settings.learn_url))) == []


@pytest.fixture
def cluster(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    pytest.importorskip("netapp_dataops")
    import keyring
    from keyring.backend import KeyringBackend

    class Memory(KeyringBackend):  # type: ignore[misc]
        priority = 1.0

        def get_password(self, service: str, username: str) -> str | None:
            return {"username": USER, "password": PASSWORD}.get(username)

        def set_password(self, *_: Any) -> None: ...

    keyring.set_keyring(Memory())
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".netapp_dataops").mkdir()
    with serving(Cluster("calls"), tmp_path / "cluster.pem") as running:
        about = {
            "connectionType": "ONTAP", "hostname": f"localhost:{running.port}", "svm": SVM,
            "sslCertPath": str(tmp_path / "cluster.pem"), "defaultUnixUID": "0", "defaultUnixGID": "0",
            "defaultSnapshotPolicy": "none", "defaultExportPolicy": "default",
        }  # fmt: skip
        (tmp_path / ".netapp_dataops" / "config.json").write_text(json.dumps(about))
        yield running


def test_the_volume_has_a_snapshot_of_the_same_name_and_a_clone_of_it(settings: Settings, cluster: Cluster) -> None:
    taken = take(settings, by="root", job="learn-42")

    assert list(cluster.snapshots["calls"]) == [taken.name]
    assert taken.ontap == "calls"
    ontap.clone_volume(settings, taken.name, "calls", "restored_calls")
    clone = cluster.volumes["restored_calls"]["clone"]
    assert (clone["parent_volume"]["name"], clone["parent_snapshot"]["name"]) == ("calls", taken.name)
    with pytest.raises(BadInput, match="clone exists"):
        ontap.clone_volume(settings, taken.name, "calls", "restored_calls")
    with pytest.raises(BadInput, match="no such snapshot"):
        ontap.clone_volume(settings, "snap-none", "calls", "another")


def test_the_cluster_tells_its_version_and_how_many_snapshots_the_volume_has(
    settings: Settings, cluster: Cluster
) -> None:
    assert ontap.look(settings) == ("9.15.1", 0)
    take(settings, by="root")
    assert ontap.look(settings).snapshots == 1
    with pytest.raises(BadInput, match="no volume 'nowhere'"):
        ontap.look(settings.model_copy(update={"learn": LearnSettings(ontap_volume="nowhere")}))


def test_a_wrong_volume_or_a_cluster_that_is_away_is_said_and_leaves_no_snapshot(
    settings: Settings, cluster: Cluster
) -> None:
    for learn, kind in (
        (LearnSettings(ontap_volume="nowhere"), BadInput),
        (LearnSettings(ontap_volume="calls", ontap_cluster="localhost:1"), Unavailable),
    ):
        with pytest.raises(kind):
            take(settings.model_copy(update={"learn": learn}), by="root")
    assert list(listing(Place(settings.learn_url))) == []


async def test_an_old_snapshot_of_the_volume_is_deleted_and_a_receipt_says_until_when(
    settings: Settings, cluster: Cluster
) -> None:
    old = take(settings, by="root", now=time.time() - 31 * 86_400)
    new = take(settings, by="root", job="next")
    assert list(cluster.snapshots["calls"]) == [new.name]
    place = Place(settings.learn_url)
    assert [(one.name, one.ontap) for one in listing(place)] == [(old.name, ""), (new.name, "calls")]
    assert verify(place, old.name).sound, "ours stays"
    database = open_database(settings)
    receipt = await erase(database, settings, by="root", call="one")
    database.close()
    assert any(note.startswith("ONTAP's 1 snapshots of the volume calls") for note in receipt.notes)
