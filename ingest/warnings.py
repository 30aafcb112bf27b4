"""What a person should know about a recording although it can be used."""

from __future__ import annotations

from collections.abc import Iterator

import structlog

log = structlog.get_logger(__name__)


class Warnings:
    """Warnings of one recording, each said once: logged at once, and kept for whoever shows them."""

    def __init__(self, recording: str) -> None:
        self._recording = recording
        self._texts: list[str] = []

    def add(self, text: str) -> None:
        if text not in self._texts:
            self._texts.append(text)
            log.warning(text, recording=self._recording)

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)
