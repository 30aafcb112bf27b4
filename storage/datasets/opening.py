"""A dataset to train with: its rows, with words and decoded audio, from the cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import msgspec

from storage.archive.sealing.place import ArchivePlace
from storage.datasets import cache
from storage.datasets.manifest import SPLITS, DatasetVersion, find
from storage.viewer import HOUSE, Viewer
from tenor.errors import BadInput
from tenor.settings import Settings

Split = Literal["train", "val", "test", "holdout"]
BATCH = 10_000
_decode = msgspec.json.Decoder(tuple[str, ...]).decode


class DatasetRow(msgspec.Struct, frozen=True, kw_only=True):
    """One labelled sentence, or one stretch of speech with its words: what a recipe learns from."""

    id: str
    call: str
    group: str
    """The customer, or the call where none is known: rows of one group are on one side."""
    text: str
    role: str
    before: str | None
    """The sentence before in the call."""
    sentiment: str | None
    intent: str | None
    tags: tuple[str, ...] | None
    """Slots of the words between blanks, as BIO."""
    audio: str | None
    """Path of the decoded channel,"""
    start_ms: int
    end_ms: int
    """and which part of it."""
    weight: float
    split: Split
    origin: dict[str, str]
    """Queue, site, codec."""
    recognised: str = ""
    """What a recogniser wrote, of a call in the archive; empty where people wrote the words down."""


class OpenDataset:
    """`with open_dataset(settings, "house@3") as dataset:`; it stays in the cache until it is closed."""

    def __init__(self, version: DatasetVersion, found: cache.CachedDataset) -> None:
        self.version = version
        self._cached = found

    @property
    def filled(self) -> bool:
        """Whether opening it filled the cache."""
        return self._cached.filled

    def rows(self, split: str = "") -> Iterator[DatasetRow]:
        """Those of a split, or all, in the dataset's order."""
        if split and split not in SPLITS:
            raise BadInput(f"there is no split {split!r}", f"one of {', '.join(SPLITS)}")
        for batch in self._cached.table().to_batches(BATCH):
            for row in batch.to_pylist():
                if not split or row["split"] == split:
                    yield self._row(row)

    def close(self) -> None:
        self._cached.close()

    def __enter__(self) -> OpenDataset:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _row(self, row: dict[str, object]) -> DatasetRow:
        origin = {name: str(row[name]) for name in ("queue", "site", "codec", "rate") if row[name]}
        known = [name for name in DatasetRow.__struct_fields__ if name in row]  # an older cache has fewer
        own = {name: row[name] for name in known if name not in ("tags", "audio", "origin")}
        sha256 = str(row["audio"] or "")
        return DatasetRow(
            **own,  # type: ignore[arg-type]
            tags=_decode(str(row["tags"])) if row["tags"] else None,
            audio=str(self._cached.audio(sha256)) if sha256 else None,
            origin=origin,
        )


def open_dataset(
    settings: Settings,
    reference: str,
    *,
    viewer: Viewer = HOUSE,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> OpenDataset:
    """The version NAME@N, or the newest of NAME; for those who may train."""
    viewer.must_train("use datasets")
    place = ArchivePlace(settings)
    version = find(place, reference)
    return OpenDataset(version, cache.cached(settings, place, version, progress))
