"""A shadow run of a model of the registry over what is kept: both models answer, and only counts stay."""

from __future__ import annotations

import time
from collections.abc import Callable

from storage.registry import shadows
from storage.registry.registry import ModelVersion, Registry
from storage.tables import Shadow
from storage.viewer import Viewer
from tenor.runtime.shadow import ShadowRun, compare_kept, open_asking
from tenor.settings import Settings

LAST_S, MOST, SHOWN = 86_400.0, 5000, 20
"""Yesterday's sentences, so many at most, and how many changed answers are shown."""


def shadow_kept(
    settings: Settings,
    registry: Registry,
    viewer: Viewer,
    candidate: ModelVersion,
    champion: ModelVersion,
    *,
    since: float | None = None,
    most: int = MOST,
    shown: int = SHOWN,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> ShadowRun:
    """What the candidate would change of the sentences (or lines to the assistant) since then, else of a day."""
    lines = shadows.kept_sentences if candidate.kind == "language" else shadows.kept_lines
    with registry.database.session() as session:
        kept = list(lines(session, viewer, time.time() - LAST_S if since is None else since, most))
    ask_candidate = open_asking(candidate.kind, registry.path(candidate), settings)
    ask_champion = open_asking(champion.kind, None if champion.ships else registry.path(champion), settings)
    done = 0

    def told(count: int) -> None:
        nonlocal done
        done += count
        progress(done, len(kept))

    found = compare_kept(kept, ask_champion, ask_candidate, show=shown, told=told)
    record_shadow(registry, viewer, candidate, champion, found)
    return found


def record_shadow(
    registry: Registry, viewer: Viewer, candidate: ModelVersion, champion: ModelVersion, found: ShadowRun,
    *, live: bool = False,
) -> None:  # fmt: skip
    registry.record_shadow(
        Shadow(
            model=candidate.id, against=champion.id, live=live, sentences=found.sentences, changed=found.changed,
            counts=found.counted(), at=time.time(), by=viewer.name,
        )
    )  # fmt: skip
