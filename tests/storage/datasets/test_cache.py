"""The cache is filled once for many readers, holds what is in use, and lets go of what nobody used for a day."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from storage import metrics
from storage.datasets import cache, find, open_dataset
from storage.datasets.importing import import_dataset
from storage.place import Place
from tenor.errors import BadInput
from tenor.settings import Settings
from tests.storage.datasets.material import calls_folder
from tests.tenor.cli.command import environment

READER = """
import sys
from pathlib import Path
from storage.datasets import open_dataset
from tenor.settings import Settings
with open_dataset(Settings(home=Path(sys.argv[1])), "hv@1") as dataset:
    print(dataset.filled, len([row for row in dataset.rows() if Path(row.audio).stat().st_size]))
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    made = Settings(home=tmp_path / "home")
    import_dataset(made, calls_folder(tmp_path / "train", calls=8), "hv", by="root")
    return made


@pytest.mark.slow
def test_eight_readers_fill_it_once(settings: Settings) -> None:
    variables = {**environment(), "PYTHONPATH": str(Path(__file__).parents[3])}
    command = [sys.executable, "-c", READER, str(settings.home)]
    running = [subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True) for _ in range(8)]
    told = sorted(one.communicate(timeout=120)[0].split()[0] for one in running)
    assert told == ["False"] * 7 + ["True"]


def test_unused_for_a_day_it_goes_but_not_while_it_is_pinned_or_in_use(settings: Settings) -> None:
    version = find(Place(settings.learn_url), "hv")
    tomorrow = time.time() + 25 * 3600
    with open_dataset(settings, "hv") as dataset:
        assert cache.evict(settings, tomorrow) == []
        assert next(dataset.rows()).audio
        assert [entry.in_use for entry in cache.use(settings).entries] == [True]
    cache.pin(settings, version, True)
    assert cache.evict(settings, tomorrow) == []
    cache.pin(settings, version, False)
    assert cache.evict(settings, time.time() + 23 * 3600) == []
    assert metrics.CACHE_BYTES._value.get() == cache.use(settings).bytes > 0

    assert cache.evict(settings, tomorrow) == [cache.entry_name(version)]

    assert cache.use(settings).bytes == 0
    assert list((settings.home / "learn-cache" / "audio").iterdir()) == []
    with pytest.raises(BadInput, match="not in the cache"):
        cache.pin(settings, version, True)


def test_audio_is_decoded_once_for_two_datasets(settings: Settings, tmp_path: Path) -> None:
    import_dataset(settings, tmp_path / "train", "twin", by="root")
    with open_dataset(settings, "hv") as one, open_dataset(settings, "twin") as two:
        assert {row.audio for row in one.rows()} == {row.audio for row in two.rows()}
    assert cache.clear(settings, find(Place(settings.learn_url), "hv"))
    assert len(list((settings.home / "learn-cache" / "audio").iterdir())) == 16, "the other one still uses it"


def test_one_that_was_killed_while_filling_is_filled_by_the_next(settings: Settings) -> None:
    version = find(Place(settings.learn_url), "hv")
    folder = settings.home / "learn-cache" / cache.entry_name(version)
    (folder.parent / "audio").mkdir(parents=True)
    folder.mkdir()
    (folder / "lock").touch()
    (folder / "rows.parquet.part").write_bytes(b"half")
    with open_dataset(settings, "hv") as dataset:
        assert dataset.filled
        assert len(list(dataset.rows())) == 16
