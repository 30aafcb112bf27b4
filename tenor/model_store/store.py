"""The models' folder as those see it who load models: the log of promotions, and where each model lies."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import structlog

from tenor.errors import BadInput
from tenor.model_store.card import Kind
from tenor.model_store.digest import is_file_name
from tenor.model_store.promotion_log import FILE, Promotion, PromotionLog, read_log
from tenor.settings import LanguageSettings, Settings

log = structlog.get_logger(__name__)


class ModelStore:
    """Any thread may use it. Without a folder there are no promotions."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.log = PromotionLog()
        self._read: tuple[int, int, int] | None = None
        """File, size and time of what was read last."""
        self._lock = threading.Lock()
        self.refresh()

    def refresh(self) -> bool:
        """Read the log again if it has changed. Opened and not only looked at: file systems on a network tell a file's
        size truly only then. A log that cannot be read now leaves what was read before."""
        if self.folder is None:
            return False
        with self._lock:
            try:
                with (self.folder / FILE).open("rb") as file:
                    found = os.fstat(file.fileno())
                    read = (found.st_ino, found.st_size, found.st_mtime_ns)
                    if read == self._read:
                        return False
                    self.log, self._read = read_log(file.read()), read
                    return True
            except FileNotFoundError:
                return False
            except OSError as error:
                log.error("the promotions' log cannot be read", reason=error.strerror)
                return False

    def path(self, promotion: Promotion) -> Path:
        """The folder of a promoted model. BadInput where there is none."""
        assert self.folder is not None
        if not is_file_name(promotion.model) or not (self.folder / promotion.model).is_dir():
            raise BadInput(f"there is no model {promotion.model} in {self.folder}", "see `tenor models list`")
        return self.folder / promotion.model


def language_in_force(settings: Settings) -> LanguageSettings:
    """The settings with the folder of the promoted language model, if one is in force: its labels are in force then."""
    store = store_of(settings, "language")
    promotion = store.log.in_force("language", time.time())
    if promotion is None or not promotion.sha256:
        return settings.language
    try:
        return settings.language.model_copy(update={"model": str(store.path(promotion))})
    except BadInput:  # workers go on with the model before it, and say so
        return settings.language


def store_of(settings: Settings, kind: Kind) -> ModelStore:
    """The promotions that count for this process: none where a setting names a folder of its own."""
    pinned = {
        "language": settings.language.model,
        "speech": settings.riva.recognizer_path,
        "assistant": "",
    }[kind]
    return ModelStore(None if pinned else settings.models_folder)
