"""What became of a recording or a written conversation that was published."""

from __future__ import annotations

from dataclasses import dataclass

from ingest.sources import Source
from tenor.errors import TenorError


@dataclass(frozen=True)
class PublishedCall:
    """How publishing a recording or a conversation ended."""

    call: str
    heard_ms: int
    chunks: int
    reason: str
    failed: bool = False
    warnings: tuple[str, ...] = ()
    """All of them: that a recording is cut off or damaged is known only at its end."""


@dataclass(frozen=True)
class SourceResult:
    """What became of one source: published, or the error that kept it from being opened."""

    source: Source
    published: PublishedCall | None = None
    error: TenorError | None = None
