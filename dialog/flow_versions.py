"""Flows by version, each with its engine and its actions: a conversation finishes on the version it began with.

The files of every version that was ever in force here lie in a folder, so that a worker that takes a conversation over
after an upgrade, or on another machine that shares the folder, finds them. Beside them lies the picture of each
version, for the dashboard, which does not read flows.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

import structlog

from dialog.engine.engine import Engine
from dialog.flow.drawing.svg import svg
from dialog.flow.loading import AssistantFolder, check_texts
from dialog.flow.model import Assistant
from dialog.fulfilment.runner import ActionRunner
from tenor.bounded_dict import BoundedDict

log = structlog.get_logger(__name__)

IN_MEMORY: Final = 16
_VERSION: Final = re.compile(r"[0-9a-f]{4,64}")


class FlowVersion(NamedTuple):
    engine: Engine
    runner: ActionRunner


class FlowVersions:
    def __init__(self, folder: AssistantFolder, make: Callable[[Assistant], FlowVersion], kept: Path) -> None:
        """`kept` is the folder of versions."""
        self._folder, self._make, self._kept = folder, make, kept
        self._known: BoundedDict[str, FlowVersion] = BoundedDict(IN_MEMORY)
        self.current = self._take(folder.assistant)

    def refresh(self) -> None:
        """Take a changed file over; a wrong one is refused, and told once."""
        before = self._folder.faults
        if self._folder.refresh():
            self.current = self._take(self._folder.assistant)
            log.info("the assistant's flows are taken over", version=self._folder.assistant.version)
        elif self._folder.faults and self._folder.faults != before:
            log.error("the assistant's changed flows are refused", faults=[str(one) for one in self._folder.faults[:5]])

    def of(self, version: str) -> FlowVersion | None:
        """What a conversation began with; None when those flows are nowhere any more."""
        if (known := self._known.get(version)) is not None:
            return known
        if not _VERSION.fullmatch(version):  # it comes from the bus, and becomes a path
            return None
        found = self._folder.version(version) or self._read(version)
        return self._take(found) if found is not None else None

    async def close(self) -> None:
        """Connections that actions hold are closed."""
        for known in self._known.values():
            await known.runner.close()

    def _take(self, assistant: Assistant) -> FlowVersion:
        made = self._known[assistant.version] = self._make(assistant)
        self._write(assistant)
        return made

    def _read(self, version: str) -> Assistant | None:
        try:
            texts = {path.name: path.read_text("utf-8") for path in sorted((self._kept / version).iterdir())}
        except (OSError, UnicodeDecodeError):
            return None
        found = check_texts(texts).assistant
        return found if found is not None and found.version == version else None

    def _write(self, assistant: Assistant) -> None:
        """All files of the version, or none; and its picture."""
        target, picture = self._kept / assistant.version, self._kept / f"{assistant.version}.svg"
        if target.exists() and picture.exists():
            return
        try:
            self._kept.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".part-", dir=self._kept, ignore_cleanup_errors=True) as part:
                if not picture.exists():
                    drawn = Path(part) / picture.name
                    drawn.write_text(svg(assistant), "utf-8")
                    drawn.replace(picture)
                if target.exists():
                    return
                for name, text in assistant.texts.items():
                    (Path(part) / Path(name).name).write_text(text, "utf-8")
                Path(part).rename(target)
        except OSError as error:  # another worker was faster, or the disk is full: memory still has it
            if not target.exists():
                log.warning("the assistant's flows could not be kept", version=assistant.version, reason=str(error))
