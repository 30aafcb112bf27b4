"""Calls that are past their time leave the archive, its snapshots and its datasets, as erased ones do."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from storage.archive import erasures, tables
from storage.archive.blobs import BlobStore
from storage.archive.days import DAY_S, day_of
from storage.archive.lock import changing
from storage.archive.references import manifests
from storage.archive.sealing.tables import blocks_of, is_sealed
from storage.datasets.cache import forget_calls
from storage.place import Place
from tenor.settings import Settings

OF_CALLS = ("sentences", "audio", "turns")
"""Parts whose day is that of the call; a label is made later."""


def expire(settings: Settings, now: float | None = None) -> int:
    """Take out what is older than the setting says; how many calls. Imported sets have no days, and stay."""
    days = settings.learn.keep_days if settings.learn.keep_days >= 0 else settings.storage.keep_calls_days
    if not days:
        return 0
    at = time.time() if now is None else now
    before = day_of(at - days * DAY_S)
    if not _old_parts(Place(settings.learn_url), before):
        return 0
    with changing(settings) as place:
        blobs = BlobStore(place)
        calls: set[str] = set()
        keys: set[str] = set()
        for sha256 in _old_parts(place, before):
            content = blobs.get(sha256)
            if is_sealed(content):
                keys |= set(blocks_of(content)["key"].to_pylist())
            else:
                calls |= tables.calls_in(tables.from_bytes(content, ["call"]))
        if keys:
            calls |= set(place.keys.calls_of(keys))
            place.keys.delete(keys)
        if calls and not place.worm:
            erasures.erase_at(place, calls, f"retention {datetime.fromtimestamp(at, UTC):%Y-%m-%d}")
        if calls:
            forget_calls(settings, sorted(calls))
    return len(calls)


def _old_parts(place: Place, before: str) -> set[str]:
    """Blobs of days that are over, as far as anything is left in them."""
    return {
        part.sha256
        for _, names in manifests(place)
        for part in names.parts
        if part.kind in OF_CALLS and len(part.key) == len(before) and part.key < before and part.rows
    }
