"""What became of a recording or a written conversation that was published."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ingest.sources import Source
from tenor.errors import BadInput, TenorError


class AlreadyThere(BadInput):
    """The call was taken in before, and is over."""

    def __init__(self, call: str) -> None:
        super().__init__(f"{call} is there already", "--call ID takes it in once more, as another call")
        self.call = call


Known = Callable[[str], TenorError | None]
"""What keeps a call of this id from being published, as far as whoever calls us knows: it was erased, or is there."""


def nothing_known(call: str) -> TenorError | None:
    return None


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
