"""Models come and go while calls go on; one that cannot be loaded leaves the one before it in place."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tenor.errors import BadInput
from tenor.model_store import pool as pools
from tenor.model_store.digest import digest_of, file_hashes
from tenor.model_store.pool import ModelPool
from tenor.model_store.promotion_log import FILE
from tenor.model_store.store import ModelStore
from tests.model_folders import promoted, promotion


def small_model(models: Path, model: str, content: str = "") -> str:
    """A folder with a file, for a loader that only reads it."""
    (models / model).mkdir(parents=True)
    (models / model / "weights.txt").write_text(content or model)
    return digest_of(file_hashes(models / model))


class Loader:
    def __init__(self) -> None:
        self.loaded: list[str] = []

    def __call__(self, folder: Path | None) -> str:
        text = "ships" if folder is None else (folder / "weights.txt").read_text()
        if "wrong" in text:
            raise BadInput("it answers 3 of 10 golden sentences otherwise")
        self.loaded.append(text)
        return text


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    clock = [1000.0]
    monkeypatch.setattr("tenor.model_store.pool.time.time", lambda: clock[0])
    return clock


def test_a_promoted_model_is_loaded_before_it_counts(tmp_path: Path, now: list[float]) -> None:
    load = Loader()
    pool = ModelPool("language", ModelStore(tmp_path), load)
    assert pool.current() == "ships"
    promoted(tmp_path, promotion("house-1", small_model(tmp_path, "house-1"), 1010.0))
    pool.prepare()
    assert load.loaded == ["ships", "house-1"]
    assert pool.current() == "ships"
    now[0] = 1010.0
    assert pool.current() == "house-1"
    assert [(one.model, one.reason) for one in pool.reports] == [("house-1", "")]


def test_the_old_model_is_gone_when_its_last_call_is_over(tmp_path: Path, now: list[float]) -> None:
    pool = ModelPool("language", ModelStore(tmp_path), Loader())
    old = pool.choose(1000.0)
    promoted(tmp_path, promotion("house-1", small_model(tmp_path, "house-1"), 1010.0))
    now[0] = 1020.0
    pool.prepare()
    new = pool.choose(1015.0)
    pool.release([old, new])
    assert len(pool.loaded) == 2
    assert pool.get(old) == "ships"
    pool.release([new])
    assert pool.loaded == [new.got]
    assert pool.get(old) == "ships"  # a call that goes on after all has it loaded again


def test_a_model_that_cannot_be_loaded_leaves_the_one_before_it(tmp_path: Path, now: list[float]) -> None:
    promoted(tmp_path, promotion("house-1", small_model(tmp_path, "house-1"), 900.0))
    promoted(tmp_path, promotion("house-2", small_model(tmp_path, "house-2", "wrong answers"), 950.0))
    promoted(tmp_path, promotion("house-3", "0" * 64, 960.0))
    promoted(tmp_path, promotion("../house-1", "0" * 64, 970.0))
    pool = ModelPool("language", ModelStore(tmp_path), Loader())
    pool.prepare()
    assert pool.current() == "house-1"
    told = {one.model: one.reason for one in pool.reports}
    assert "golden" in told["house-2"]
    assert "no model house-3" in told["house-3"]
    assert told["../house-1"]
    assert told["house-1"] == ""


def test_a_changed_file_is_noticed_by_its_hash(tmp_path: Path, now: list[float]) -> None:
    sha256 = small_model(tmp_path, "house-1")
    (tmp_path / "house-1" / "model.json").write_text('{"name": "house", "version": "1"}')
    promoted(tmp_path, promotion("house-1", sha256, 900.0))
    pool = ModelPool("language", ModelStore(tmp_path), Loader())
    assert pool.current() == "ships"
    assert "is not the model that was registered" in pool.reports[0].reason


def test_a_call_keeps_what_it_got_when_the_model_can_be_loaded_again(tmp_path: Path, now: list[float]) -> None:
    sha256 = small_model(tmp_path, "house-1")
    (tmp_path / "house-1").rename(tmp_path / "away")
    promoted(tmp_path, promotion("house-1", sha256, 900.0))
    pool = ModelPool("language", ModelStore(tmp_path), Loader())
    begun = pool.choose(1000.0)
    assert pool.get(begun) == "ships"
    (tmp_path / "away").rename(tmp_path / "house-1")
    now[0] += pools.RETRY_S + 1
    pool.prepare()
    assert pool.get(pool.choose(1000.0, before=begun)) == "ships"
    assert pool.get(pool.choose(now[0])) == "house-1"


def test_rolling_back_to_what_ships_loads_nothing_twice(tmp_path: Path, now: list[float]) -> None:
    load = Loader()
    promoted(tmp_path, promotion("house-1", small_model(tmp_path, "house-1"), 900.0))
    promoted(tmp_path, promotion("tenor-language-2", "", 950.0, previous="house-1"))
    pool = ModelPool("language", ModelStore(tmp_path), load)
    assert pool.current() == "ships"
    pool.prepare()
    assert load.loaded == ["ships"]


def test_nobody_waits_for_the_model_of_others(tmp_path: Path, now: list[float]) -> None:
    """While a model is being loaded, calls of another go on."""
    loading, go_on = threading.Event(), threading.Event()

    def load(folder: Path | None) -> str:
        if folder is not None:
            loading.set()
            assert go_on.wait(20)
        return folder.name if folder is not None else "ships"

    pool = ModelPool("language", ModelStore(tmp_path), load)
    assert pool.current() == "ships"
    promoted(tmp_path, promotion("house-1", small_model(tmp_path, "house-1"), 1010.0))
    thread = threading.Thread(target=pool.prepare)
    thread.start()
    try:
        assert loading.wait(20)
        assert pool.get(pool.choose(1000.0)) == "ships"
    finally:
        go_on.set()
        thread.join()
    now[0] = 1010.0
    assert pool.current() == "house-1"


def test_a_log_that_vanishes_leaves_what_was_read(tmp_path: Path, now: list[float]) -> None:
    promoted(tmp_path, promotion("house-1", small_model(tmp_path, "house-1"), 900.0))
    store = ModelStore(tmp_path)
    (tmp_path / FILE).unlink()
    assert not store.refresh()
    assert ModelPool("language", store, Loader()).current() == "house-1"
