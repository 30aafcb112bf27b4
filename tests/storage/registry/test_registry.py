"""Who puts which model in force, and that the log and the tables agree whoever was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from sqlmodel import select

from storage.db.engine import Database, using
from storage.registry import lineage
from storage.registry.registry import ModelVersion, Registry
from storage.tables import Audit, Model, Promotion
from storage.viewer import Role, Viewer
from tenor.errors import BadInput, Refused
from tenor.model_store import promotion_log
from tenor.model_store.card import CARD
from tenor.model_store.shipped import SHIPPED
from tenor.settings import LearnSettings, Settings
from tests.model_folders import promoted, promotion

ANN = Viewer("ann", "analyst")
FIRST = SHIPPED["language"].id


@pytest.fixture
def database(sqlite_settings: Settings) -> Iterator[Database]:
    with using(sqlite_settings) as opened:
        yield opened


@pytest.fixture
def registry(database: Database, tmp_path: Path) -> Registry:
    return Registry(database, tmp_path / "models")


def small_folder(folder: Path, **card: Any) -> Path:
    """What looks like a language model to one who does not load it."""
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(b"\x08\x01" + folder.name.encode())
    about = {"name": "house", "version": "1", "heads": {"intent": ["a", "b"]}, **card}
    (folder / CARD).write_bytes(msgspec.json.encode(about))
    return folder


def candidate(registry: Registry, folder: Path, *, passed: bool | None = True, **card: Any) -> ModelVersion:
    version = registry.add(ANN, small_folder(folder, **card), name="house", why="a try")
    if passed is not None:
        registry.record_gate(ANN, version.id, passed=passed, verdict="F1 +3.1", figures={"f1": 0.031})
    return registry.version(version.id)


def states(registry: Registry) -> dict[str, str]:
    return {one.id: one.state for one in registry.versions("language")}


def test_an_empty_home_shows_what_ships_in_force(registry: Registry) -> None:
    assert {one.kind: one.state for one in registry.versions()} == dict.fromkeys(
        ("language", "speech", "assistant"), "champion"
    )


def test_a_version_is_a_candidate_until_it_is_promoted_and_rejected_when_rolled_back(
    registry: Registry, tmp_path: Path
) -> None:
    candidate(registry, tmp_path / "a")
    candidate(registry, tmp_path / "b", passed=False)
    candidate(registry, tmp_path / "c")
    assert states(registry) == {
        FIRST: "champion", "house-1": "candidate", "house-2": "rejected", "house-3": "candidate",
    }  # fmt: skip
    registry.promote(ANN, "house-1", "better")
    registry.promote(ANN, "house-3", "better still")
    assert states(registry) == {
        FIRST: "previous", "house-1": "previous", "house-2": "rejected", "house-3": "champion",
    }  # fmt: skip
    back = registry.rollback(ANN, "language", "too many angry callers")
    assert (back.model, back.previous, back.why) == ("house-1", "house-3", "too many angry callers")
    assert states(registry)["house-3"] == "rejected"
    # Twice goes back two steps, not to and fro.
    assert registry.rollback(ANN, "language", "worse").model == FIRST
    with pytest.raises(BadInput, match="nothing to go back to"):
        registry.rollback(ANN, "language", "even worse")


@pytest.mark.parametrize("role", get_args(Role))
def test_who_may_promote(role: Role, registry: Registry, tmp_path: Path) -> None:
    candidate(registry, tmp_path / "a")
    viewer = Viewer("somebody", role)
    wanted: list[Callable[[], object]] = [
        lambda: registry.add(viewer, tmp_path / "a", name="house"),
        lambda: registry.promote(viewer, "house-1", ""),
        lambda: registry.rollback(viewer, "language", "no"),
    ]
    for does in wanted:
        if role in ("analyst", "administrator"):
            does()
        else:
            with pytest.raises(Refused, match=role):
                does()


def test_without_a_passed_gate_only_force_with_a_reason_promotes(registry: Registry, tmp_path: Path) -> None:
    candidate(registry, tmp_path / "a", passed=None)
    candidate(registry, tmp_path / "b", passed=False)
    for model in ("house-1", "house-2"):
        with pytest.raises(BadInput, match=r"gate|rejected"):
            registry.promote(ANN, model, "I like it")
        with pytest.raises(BadInput, match="reason"):
            registry.promote(ANN, model, " ", force=True)
    assert registry.log().promotions == ()
    assert registry.promote(ANN, "house-2", "the hold-out is wrong", force=True).model == "house-2"


def test_a_rollback_needs_a_reason_and_what_is_in_force_is_not_promoted_again(
    registry: Registry, tmp_path: Path
) -> None:
    candidate(registry, tmp_path / "a")
    registry.promote(ANN, "house-1", "")
    with pytest.raises(BadInput, match="reason"):
        registry.rollback(ANN, "language", "")
    with pytest.raises(BadInput, match="in force already"):
        registry.promote(ANN, "house-1", "")


def test_a_recogniser_is_not_promoted_at_once(registry: Registry, tmp_path: Path) -> None:
    version = registry.add(ANN, small_folder(tmp_path / "a"), name="ears", kind="speech")
    with pytest.raises(BadInput, match="within a call"):
        registry.promote(ANN, version.id, "now", force=True, at_once=True)
    assert registry.promote(ANN, version.id, "now", force=True).model == "ears-1"


def test_a_model_whose_files_changed_is_not_promoted(registry: Registry, tmp_path: Path) -> None:
    candidate(registry, tmp_path / "a")
    (registry.folder / "house-1" / "model.onnx").write_bytes(b"something else")
    with pytest.raises(BadInput, match=r"model\.onnx changed"):
        registry.promote(ANN, "house-1", "")
    assert registry.log().promotions == ()


def test_of_two_promotions_at_once_one_wins_and_the_other_is_told(registry: Registry, tmp_path: Path) -> None:
    for name in "abcd":
        candidate(registry, tmp_path / name)
    begin = threading.Barrier(4)
    told: dict[str, str] = {}

    def promote(model: str) -> None:
        begin.wait()
        try:
            registry.promote(ANN, model, "at the same time", replaces=FIRST)
            told[model] = "won"
        except Refused as refused:
            told[model] = refused.message

    threads = [threading.Thread(target=promote, args=(f"house-{number}",)) for number in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(told) == ["house-1", "house-2", "house-3", "house-4"]
    assert list(told.values()).count("won") == 1
    [line] = registry.log().promotions
    assert told[line.model] == "won"
    assert all("promot" in message for model, message in told.items() if model != line.model)


def test_half_a_line_is_cut_off_before_the_next_is_written(registry: Registry, tmp_path: Path) -> None:
    candidate(registry, tmp_path / "a")
    with (registry.folder / promotion_log.FILE).open("wb") as log:
        log.write(b'{"kind": "language", "model": "hou')
    registry.promote(ANN, "house-1", "")
    log_read = registry.log()
    assert [one.model for one in log_read.promotions] == ["house-1"]
    assert not log_read.torn
    assert not log_read.ignored


def test_on_a_full_disk_nothing_is_promoted(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    candidate(registry, tmp_path / "a")
    candidate(registry, tmp_path / "b")
    registry.promote(ANN, "house-1", "")
    before = (registry.folder / promotion_log.FILE).read_bytes()
    write = os.write

    def half(handle: int, data: bytes) -> int:
        if len(data) > 20 and data.startswith(b"{"):
            return write(handle, data[:20])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("storage.registry.promotion_writer.os.write", half)
    with pytest.raises(OSError, match="No space"):
        registry.promote(ANN, "house-2", "")
    assert (registry.folder / promotion_log.FILE).read_bytes() == before


def test_the_tables_are_made_good_after_a_kill(registry: Registry, database: Database, tmp_path: Path) -> None:
    """Killed after the file was written and before the database knew: the next who looks finds everything, once."""
    version = candidate(registry, tmp_path / "a")
    promoted(registry.folder, promotion("house-1", version.sha256, 1000.0, by="bob", why="before the kill"))
    with database.begin() as session:
        session.delete(session.get_one(Model, "house-1"))
    for _ in range(2):
        assert states(registry)["house-1"] == "champion"
    with database.session() as session:
        assert [one.model for one in session.exec(select(Promotion))] == ["house-1"]
        [noted] = [one for one in session.exec(select(Audit)) if one.action == "model.promoted"]
        assert (noted.who, noted.subject) == ("bob", "house-1")
        assert "before the kill" in noted.detail["why"]


_PROMOTES = """
import os, signal, sys
from pathlib import Path
from storage.db.engine import using
from storage.registry import folders, promotion_writer, registry
from storage.viewer import Viewer
from tenor.settings import Settings, StorageSettings

count = int(sys.argv[3])
def mortal(module, name):
    real = getattr(module, name)
    def counted(*args, **kwargs):
        global count
        count -= 1
        if count == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*args, **kwargs)
    setattr(module, name, counted)
for name in ("open", "write", "fsync", "close", "ftruncate", "lseek"):
    mortal(promotion_writer.os, name)
with using(Settings(home=Path(sys.argv[1]), storage=StorageSettings(url=sys.argv[4]))) as database:
    registry.Registry(database, Path(sys.argv[2])).promote(Viewer("ann", "analyst"), "house-1", "in one piece")
"""


@pytest.mark.slow
@pytest.mark.parametrize("step", range(1, 9))
def test_killed_at_any_step_a_promotion_is_made_or_not_made(
    step: int, database_settings: Settings, tmp_path: Path
) -> None:
    home, url = str(database_settings.home), database_settings.storage.url
    with using(database_settings) as database:
        registry = Registry(database, tmp_path / "models")
        candidate(registry, tmp_path / "a")
        command = [sys.executable, "-c", _PROMOTES, home, str(registry.folder), str(step), url]
        killed = subprocess.run(command, check=False, capture_output=True, timeout=120)
        assert killed.returncode in (0, -signal.SIGKILL), killed.stderr.decode()
        log = registry.log()
        assert len(log.promotions) <= 1
        # Started again it is as if nobody had been killed.
        if not log.promotions:
            registry.promote(ANN, "house-1", "in one piece")
        assert states(registry)["house-1"] == "champion"
        assert [one.why for one in registry.log().promotions] == ["in one piece"]
        with database.session() as session:
            assert [one.model for one in session.exec(select(Promotion))] == ["house-1"]


def test_a_clock_that_was_set_back_does_not_keep_the_last_promotion_from_counting(
    registry: Registry, tmp_path: Path
) -> None:
    version = candidate(registry, tmp_path / "a")
    candidate(registry, tmp_path / "b")
    later = 4_000_000_000.0  # somebody's clock was in the year 2096
    promoted(registry.folder, promotion("house-1", version.sha256, later))
    made = registry.promote(ANN, "house-2", "")
    log = registry.log()
    for start in (made.effective_at, later, 2 * later):
        found = log.in_force("language", start)
        assert found is not None
        assert found.model == "house-2"
    assert states(registry)["house-2"] == "champion"


def test_lineage_leads_from_a_model_to_what_it_was_made_of(registry: Registry, tmp_path: Path) -> None:
    candidate(registry, tmp_path / "a", run="42", dataset="house@7", snapshot="snap-1", parent=FIRST)
    candidate(registry, tmp_path / "b", run="43", parent="house-1")
    registry.promote(ANN, "house-2", "better")
    steps = lineage.of_model(registry, registry.version("house-2"))
    told = [(one.depth, one.what, one.name) for one in steps if one.name]
    assert told == [
        (0, "model", "house-2"), (1, "run", "43"),
        (1, "model", "house-1"), (2, "run", "42"), (2, "dataset", "house@7"), (2, "snapshot", "snap-1"),
        (2, "model", FIRST),
    ]  # fmt: skip
    assert any(one.what == "gate" for one in steps)
    assert any(one.what == "promoted" and "ann" in one.text for one in steps)


def test_without_a_folder_there_is_no_registry(database: Database, sqlite_settings: Settings) -> None:
    remote = sqlite_settings.model_copy(update={"learn": LearnSettings(url="s3://bucket/learn")})
    with pytest.raises(BadInput, match=r"learn\.url is no folder"):
        Registry(database, remote.models_folder)
