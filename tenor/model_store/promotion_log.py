"""The log of promotions, and which model it gives a call.

    promotions   A at 12:00      B at 13:00            C at once at 14:00
    calls            12:30 ....A........A....                |
                               13:10 ...B........B...........C......     C counts by the utterance, not by the call

A call keeps the model that was in force when it began: a pure function of the log and of times that are on the bus, so
that a successor after a kill comes to the same. Of two lines that count for a moment the later in the log wins,
whatever the clocks said that wrote them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
import structlog

from tenor.model_store.card import Kind

log = structlog.get_logger(__name__)

FILE = "promotions.jsonl"
EFFECTIVE_S = 10.0
"""From a promotion until it counts: every worker has read the log and loaded the model by then."""
OLDEST_S = 86_400.0
"""A call that says it began earlier than this before it was published is an old text; it is understood as new ones."""


class Promotion(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the log."""

    kind: Kind
    model: str
    """NAME-N."""
    sha256: str
    """Digest of its folder; empty for a model that ships with Tenor."""
    at: float
    effective_at: float
    """From when it counts."""
    by: str
    why: str
    previous: str
    """The model that it replaced."""
    at_once: bool = False
    """It counts for utterances of calls that go on, too."""


class PromotionLog:
    """All promotions, oldest first."""

    def __init__(self, promotions: Iterable[Promotion] = (), *, ignored: tuple[int, ...] = (), torn: bool = False):
        self.promotions = tuple(promotions)
        self.ignored = ignored
        """Numbers of lines that cannot be read."""
        self.torn = torn
        """The last line ends in the middle: whoever wrote it was killed. It does not count."""

    def of(self, kind: Kind) -> list[Promotion]:
        return [one for one in self.promotions if one.kind == kind]

    def in_force(self, kind: Kind, began: float, published: float | None = None) -> Promotion | None:
        """What counts for an utterance `published` in a call that `began`; None: what ships with Tenor."""
        published = began if published is None else published
        for one in reversed(self.of(kind)):
            if one.effective_at <= (published if one.at_once else began):
                return one
        return None

    def before(self, promotion: Promotion) -> Promotion | None:
        """The one that it took the place of, whether it could be loaded or not."""
        place = self.promotions.index(promotion)
        earlier = [one for one in self.promotions[:place] if one.kind == promotion.kind]
        return earlier[-1] if earlier else None


def began(started_at: float | None, published: float) -> float:
    """When a call began, for the choice of its model: by what is known of it, else by its first record."""
    return published if started_at is None or started_at < published - OLDEST_S else started_at


def read_log(written: bytes) -> PromotionLog:
    """Half a line at the end does not count; neither does a line that cannot be read, and both are told."""
    lines = written.split(b"\n")
    torn = lines.pop() != b""
    found, ignored = [], []
    for number, promotion in _decoded(lines):
        if promotion is None:
            ignored.append(number)
        else:
            found.append(promotion)
    if torn:
        log.warning("the last promotion was not written to its end and does not count")
    if ignored:
        log.error("lines of the promotions' log cannot be read and do not count", lines=ignored)
    return PromotionLog(found, ignored=tuple(ignored), torn=torn)


def _decoded(lines: Iterable[bytes]) -> Iterator[tuple[int, Promotion | None]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield number, msgspec.json.decode(line, type=Promotion)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            yield number, None


def read_log_file(folder: Path) -> PromotionLog:
    """Of the models' folder; an empty log where there is none yet."""
    try:
        return read_log((folder / FILE).read_bytes())
    except FileNotFoundError:
        return PromotionLog()
