"""What an erasure does in the archive: at its own place, at the second one, and where snapshots were restored."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime

import msgspec
import structlog

from storage.archive import erasures, places
from storage.archive.lock import changing
from storage.archive.sealing.keys import CallKeys
from storage.datasets.cache import forget_calls
from storage.place import Place
from storage.snapshots.manifest import listing
from tenor.errors import TenorError, Unavailable
from tenor.settings import Settings

log = structlog.get_logger(__name__)


class Forgotten(msgspec.Struct, kw_only=True):
    """What the archive and its copies held of calls that were erased."""

    rows: int = 0
    audio: int = 0
    keys: int = 0
    """Of calls that are sealed."""
    learned: list[str] = []
    """Datasets that held one of the calls, and models that were trained with one of these."""
    notes: list[str] = []
    """Places that could not be reached, and what cannot be rewritten."""


def forget(settings: Settings, calls: Collection[str], receipt: str) -> Forgotten:
    """Erase calls from every place. Done again, it completes what was begun."""
    done = Forgotten()
    keys = CallKeys(settings)
    ids = {key.id for key in keys.of_calls(calls).values()}
    if ids:
        with changing(settings):  # nobody seals with a key that is being deleted
            done.keys = keys.delete(ids)
        done.notes.append(
            f"what the archive holds of {_calls(len(ids))} is sealed: the key is deleted, and no copy of the files can "
            "be read again; the files stay"
        )
    for url in [settings.learn_url, *places.known(settings)]:
        own = url == settings.learn_url
        folder = Place(url).folder
        there = folder is None or folder.is_dir()
        if own and not there:
            break  # nothing was ever archived
        try:
            if not there:  # removed, or not mounted
                raise Unavailable(f"there is no folder {folder}")
            with changing(settings, url) as place:
                found = erasures.erase_at(place, calls, receipt, ids)
        except TenorError as error:
            if own:
                raise
            done.notes.append(f"the copy at {url} could not be reached, and follows with the next `tenor archive --to`")
            log.warning("a copy of the archive could not be reached", url=url, reason=error.message)
            continue
        if found.readable:
            done.notes.append(
                f"{found.readable} tables at {url} hold the words in plain text, and cannot be rewritten (learn.worm)"
            )
        done.rows += found.rows
        done.audio += found.audio
        done.learned = list(dict.fromkeys([*done.learned, *found.datasets]))
    done.learned += _models_of(settings, done.learned)
    done.notes += _beyond_reach(settings)
    forget_calls(settings, list(calls))
    return done


def _calls(count: int) -> str:
    return f"{count} call{'' if count == 1 else 's'}"


def _beyond_reach(settings: Settings) -> list[str]:
    """ONTAP's snapshots of the volume cannot be rewritten, only deleted."""
    kept = [one for one in listing(Place(settings.learn_url)) if one.ontap]
    if not kept:
        return []
    days, newest = settings.learn.ontap_keep_days, max(one.taken_at for one in kept)
    until = f"until {datetime.fromtimestamp(newest + days * 86_400, UTC):%Y-%m-%d}" if days else "until you delete them"
    volumes = ", ".join(sorted({one.ontap for one in kept}))
    return [f"ONTAP's {len(kept)} snapshots of the volume {volumes} hold what was in the archive {until}"]


def _models_of(settings: Settings, datasets: list[str]) -> list[str]:
    """Models that were trained with one of the datasets, by their cards."""
    folder = settings.models_folder
    found = []
    for path in sorted(folder.glob("*/model.json")) if folder and datasets else ():
        try:
            card = msgspec.json.decode(path.read_bytes())
        except (msgspec.MsgspecError, OSError):
            continue
        if isinstance(card, dict) and card.get("dataset") in datasets:
            found.append(path.parent.name)
    return found
