"""The models of one kind that a process has loaded: the one in force, those that open calls began with, and the next.

    log     ....A......................B.........         a worker reads the log every second
    loaded      A......................A B.......A is gone when its last call is over
                                       |--|  B is loaded in a thread, its hash and its golden answers are checked;
                                             it counts from effective_at on

A model that cannot be loaded leaves the one before it in place, and it is told why. Everything is a function of the log
and of what can be loaded; the choice of a call, once made, stays (`Choice`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import structlog

from tenor.errors import TenorError
from tenor.model_store import metrics
from tenor.model_store.card import Kind
from tenor.model_store.digest import verify
from tenor.model_store.promotion_log import Promotion
from tenor.model_store.shipped import SHIPPED
from tenor.model_store.store import ModelStore

log = structlog.get_logger(__name__)
T = TypeVar("T")

RETRY_S = 60.0
"""After this a model that could not be loaded is tried again: somebody may have restored its files."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The model of a call: what the log gives it, and what it got."""

    wanted: str
    """Key of the promotion; empty: what ships."""
    got: str


@dataclass(frozen=True, slots=True)
class LoadReport:
    """That a promoted model is loaded, or why not."""

    kind: Kind
    model: str
    at: float
    reason: str = ""
    """Empty: it is loaded."""


class ModelPool(Generic[T]):
    """`load` makes a model of a folder and raises TenorError when it is not what it should be; of None it makes the
    model that ships, or that a setting names. Any thread may use the pool; `get` may take as long as loading does."""

    def __init__(self, kind: Kind, store: ModelStore, load: Callable[[Path | None], T], *, keep_s: float = 0.0) -> None:
        """`keep_s`: what was in force within this time is loaded, too, for those who name it themselves."""
        self.kind = kind
        self._keep_s = keep_s
        self.reports: list[LoadReport] = []
        """What was loaded or could not be, oldest first; who tells it takes it out."""
        self._store, self._load = store, load
        self._models: dict[str, T] = {}
        self._failed: dict[str, float] = {}
        """When a model could not be loaded, by key."""
        self._loading = threading.RLock()
        self._shown: str | None = None

    def choose(self, began: float, published: float | None = None, before: Choice | None = None) -> Choice:
        """The model for an utterance; what was chosen `before` for the call stays, unless another was promoted at once.
        So it does when a clock is set back, or when a model can be loaded again that could not be."""
        promotion = self._store.log.in_force(self.kind, began, published)
        wanted = _key(promotion)
        if before is not None and (before.wanted == wanted or promotion is None or not promotion.at_once):
            return before
        return Choice(wanted, self._loadable(promotion))

    def get(self, choice: Choice) -> T:
        """The model itself; loaded again if it was dropped meanwhile."""
        found = self._models.get(choice.got)
        if found is not None:
            return found
        promotion = next((one for one in self._store.log.of(self.kind) if _key(one) == choice.got), None)
        return self._models[self._loadable(promotion)]

    def current(self) -> T:
        """The model of a call that begins now."""
        return self.get(self.choose(time.time()))

    def refresh(self) -> None:
        """See whether there are new promotions."""
        self._store.refresh()

    def prepare(self) -> None:
        """Load what is in force or soon will be, so that no call waits for it."""
        self.refresh()
        now = time.time()
        for key, failed_at in list(self._failed.items()):
            if not 0 <= now - failed_at < RETRY_S:
                del self._failed[key]
        for promotion in self._due(now):
            self._loadable(promotion)
        current = self.choose(now).got
        if current != self._shown:
            if self._shown is not None:
                metrics.IN_FORCE.labels(self.kind, _shown(self.kind, self._shown)).set(0)
            metrics.IN_FORCE.labels(self.kind, _shown(self.kind, current)).set(1)
            self._shown = current

    def release(self, in_use: Iterable[Choice]) -> None:
        """Drop what neither these calls nor those to come need."""
        if len(self._models) < 2:
            return
        with self._loading:
            now = time.time()
            kept = {choice.got for choice in in_use} | {self._fallback(promotion) for promotion in self._due(now)}
            for key in self._models.keys() - kept:
                del self._models[key]
                metrics.LOADED.labels(self.kind, _shown(self.kind, key)).set(0)
                log.info("a model is no longer needed", kind=self.kind, model=_shown(self.kind, key))

    @property
    def in_memory(self) -> tuple[T, ...]:
        """What is loaded, in no order."""
        return tuple(self._models.copy().values())

    @property
    def loaded(self) -> list[str]:
        """Keys of what is in memory; empty for what ships."""
        return sorted(self._models)

    def _due(self, now: float) -> list[Promotion | None]:
        """What a call gets that begins now, what was promoted and does not count yet, and what counted until lately."""
        log, since = self._store.log, now - self._keep_s
        found: list[Promotion | None] = [log.in_force(self.kind, now), log.in_force(self.kind, since)]
        found += [one for one in log.of(self.kind) if since < one.effective_at <= now]
        found += log.of(self.kind)[-1:]
        return list(dict.fromkeys(found))

    def _loadable(self, promotion: Promotion | None) -> str:
        """Key of this model, or of the newest before it that can be loaded; it is in memory then."""
        if (wanted := _key(promotion)) in self._models:  # no call waits for another's model
            return wanted
        with self._loading:
            while promotion is not None and (key := _key(promotion)):
                if key in self._models or (key not in self._failed and self._loads(promotion)):
                    return key
                promotion = self._store.log.before(promotion)
            if "" not in self._models:
                self._models[""] = self._load(None)
                metrics.LOADED.labels(self.kind, _shown(self.kind, "")).set(1)
            return ""

    def _fallback(self, promotion: Promotion | None) -> str:
        """As `_loadable`, of what is in memory already."""
        while promotion is not None and (key := _key(promotion)) and key not in self._models:
            promotion = self._store.log.before(promotion)
        return _key(promotion)

    def _loads(self, promotion: Promotion) -> bool:
        begun = time.monotonic()
        key = _key(promotion)
        try:
            path = self._store.path(promotion)
            verify(path, promotion.sha256)
            self._models[key] = self._load(path)
        except Exception as error:  # whatever is in the folder: the old model goes on
            reason = error.message if isinstance(error, TenorError) else f"{type(error).__name__}: {error}"
            self._failed[key] = time.time()
            metrics.FAILURES.labels(self.kind).inc()
            log.error("a promoted model cannot be loaded", kind=self.kind, model=promotion.model, reason=reason)
            self.reports.append(LoadReport(self.kind, promotion.model, time.time(), reason))
            return False
        metrics.LOADED.labels(self.kind, promotion.model).set(1)
        log.info(
            "a promoted model is loaded", kind=self.kind, model=promotion.model, s=round(time.monotonic() - begun, 2)
        )
        self.reports.append(LoadReport(self.kind, promotion.model, time.time()))
        return True


def _key(promotion: Promotion | None) -> str:
    """Two promotions of the same model are one model; empty for what ships, promoted again by a rollback or not."""
    return f"{promotion.model}@{promotion.sha256[:8]}" if promotion is not None and promotion.sha256 else ""


def _shown(kind: Kind, key: str) -> str:
    return key.partition("@")[0] or SHIPPED[kind].id
