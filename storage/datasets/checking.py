"""Whether a dataset may be trained with: that nothing leaks is proved, and what is odd about it is told.

Errors stop a training; warnings are for a person to judge.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal
from zlib import crc32

import msgspec

from storage.archive.blobs import BlobStore
from storage.datasets.joining import joined
from storage.datasets.manifest import DatasetVersion, listing
from storage.datasets.shares import ShareReport, shares
from storage.datasets.splits import is_held_out, is_long, plain_words
from storage.datasets.versions import KINDS, rows_of
from storage.place import Place
from tenor.errors import BadInput
from tenor.redaction.patterns import PatternRedactor
from tenor.taxonomy.in_force import NamesInForce

TRAINED, MEASURED = ("train", "val"), ("test", "holdout")
FEW = 10
"""Rows of a class below which nothing is learned of it."""
RARE = 0.01
SHOWN = 5
PERSONAL = ("card", "account", "phone", "email", "birth_date")


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    level: Literal["error", "warning", "note"]
    about: str
    """`leak`, `balance`, `duplicates`, `contradictions`, `labels`, `personal data`, `audio`, `short`, `authors`."""
    message: str
    rows: list[str] = []
    """Ids of some of the rows, no words."""


class DatasetReport(msgspec.Struct, kw_only=True):
    dataset: str
    rows: int
    counts: dict[str, int]
    labels: dict[str, dict[str, int]]
    findings: list[Finding] = []
    shares: list[ShareReport] = []

    @property
    def may_train(self) -> bool:
        return not any(finding.level == "error" for finding in self.findings)


def check(
    place: Place,
    version: DatasetVersion,
    names: NamesInForce | None = None,
    *,
    frozen: Collection[str] = (),
    workers: int = 2,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> DatasetReport:
    """All that is to be said of a version. `names`: the labels in force, of which others are told by name."""
    rows = joined(place, version).to_pylist()
    report = DatasetReport(dataset=version.reference, rows=len(rows), counts=version.counts, labels=version.labels)
    steps: list[Callable[[], Iterator[Finding]]] = [
        lambda: _leaks(rows, version, frozen),
        lambda: _leaks_between_versions(place, version, rows),
        lambda: _balance(rows, version),
        lambda: same_words(rows, workers),
        lambda: _stray_labels(rows, version, names),
        lambda: _personal(rows),
        lambda: _audio(rows),
        lambda: _short(rows),
    ]
    for number, step in enumerate(steps, 1):
        report.findings += step()
        progress(number, len(steps))
    if version.snapshot:
        report.shares = shares(rows, _population(place, version))
        report.findings += [
            Finding(level="warning", about="share", message=f"{share.field}: {share.text}")
            for share in report.shares
            if share.differs
        ]
    report.findings.sort(key=lambda finding: ("error", "warning", "note").index(finding.level))
    return report


def _leaks(rows: Sequence[dict[str, Any]], version: DatasetVersion, frozen: Collection[str]) -> Iterator[Finding]:
    """For a split that the set itself declares, customers and sentences in common are told, and not refused."""
    level: Literal["error", "warning"] = "warning" if version.declared else "error"
    sides: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        sides[row["id"]].add(row["split"])
    yield from _leak("error", "rows are in more than one split", [one for one, own in sides.items() if len(own) > 1])
    if not version.declared:
        repeated = [one for one, times in Counter(row["id"] for row in rows).items() if times > 1]
        yield from _leak("error", "rows are there more than once", repeated)
    for field, told in (("call", "error"), ("group", level)):
        measured = {row[field] for row in rows if row["split"] in MEASURED}
        both = [row["id"] for row in rows if row["split"] in TRAINED and row[field] in measured]
        what = "of calls" if field == "call" else "of customers"
        yield from _leak(told, f"rows to train with are {what} that are measured with", both)
    said = {plain_words(row["text"]) for row in rows if row["split"] in MEASURED}
    equal = [row["id"] for row in rows if row["split"] in TRAINED and _is_said(row["text"], said)]
    yield from _leak(level, "rows to train with say what a row to measure with says", equal)
    equal = [row["id"] for row in rows if row["split"] in TRAINED and _is_said(row["text"], frozen)]
    yield from _leak(level, "rows to train with say what a frozen sentence says", equal)
    if not version.declared:
        held = [row["id"] for row in rows if row["split"] in (*TRAINED, "test") and is_held_out(row["group"])]
        yield from _leak("error", "rows are of customers who are held out", held)
        yield from _leak("error", "rows to train with are as new as those to test with", _late(rows))


def _leak(level: Any, message: str, ids: list[str]) -> Iterator[Finding]:
    if ids:
        yield Finding(level=level, about="leak", message=f"{len(ids)} {message}", rows=sorted(set(ids))[:SHOWN])


def _late(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Rows to train with that are not older than the test, where times are known: a set without times has only one."""
    split_by_time = [row for row in rows if row["split"] in (*TRAINED, "test")]
    if len({row["at"] for row in split_by_time}) == 1:
        return []
    newest = min((row["at"] for row in split_by_time if row["split"] == "test"), default=float("inf"))
    return [row["id"] for row in split_by_time if row["split"] in TRAINED and row["at"] >= newest]


def _is_said(text: str, said: Collection[str]) -> bool:
    words = plain_words(text)
    return is_long(words) and words in said


def _leaks_between_versions(place: Place, version: DatasetVersion, rows: Sequence[dict[str, Any]]) -> Iterator[Finding]:
    """Nothing that any version holds out is trained on in this one, and the other way round."""
    trained = {row["id"] for row in rows if row["split"] in TRAINED}
    held = {row["id"] for row in rows if row["split"] == "holdout"}
    for other in listing(place):
        if other.reference == version.reference:
            continue
        try:
            table = rows_of(place, other)
        except BadInput as error:  # a damaged blob of another one does not stop this one
            message = f"{other.reference} cannot be read, so what it holds out is not known: {error.message}"
            yield Finding(level="warning", about="leak", message=message)
            continue
        splits = list(zip(table["id"].to_pylist(), table["split"].to_pylist(), strict=True))
        for ours, theirs, message in (
            (trained, ("holdout",), f"rows to train with are held out in {other.reference}"),
            (held, TRAINED, f"rows that are held out are trained on in {other.reference}"),
        ):
            yield from _leak("error", message, [one for one, split in splits if split in theirs and one in ours])


def _balance(rows: Sequence[dict[str, Any]], version: DatasetVersion) -> Iterator[Finding]:
    trained = [row for row in rows if row["split"] == "train"]
    if not trained:
        yield Finding(level="error", about="balance", message="there is no row to train with")
    kinds = [kind for kind in KINDS if any(row[kind] is not None for row in rows)]
    spoken = any(row["audio"] for row in rows)
    tagged = any(row["tags"] for row in rows)
    if not kinds and not spoken and not tagged:
        yield Finding(level="error", about="balance", message="no row has a label or audio")
    for kind in kinds:
        counts = Counter(row[kind] for row in trained if row[kind] is not None)
        if len(counts) == 1 and not version.dictionaries:
            (only,) = counts
            yield Finding(level="error", about="balance", message=f"{kind}: every row to train with is {only!r}")
        total = counts.total()
        few = [f"{name} ({count})" for name, count in counts.items() if count < FEW or count < RARE * total]
        if few and len(counts) > 1:
            yield Finding(level="warning", about="balance", message=f"{kind}: few rows of {', '.join(sorted(few))}")
        nobody = sum(row[kind] is None for row in trained)
        if nobody:
            yield Finding(level="note", about="balance", message=f"{nobody} rows to train with have no {kind}")


def same_words(rows: Sequence[dict[str, Any]], workers: int = 1) -> Iterator[Finding]:
    """Duplicates, and rows of the same words that people labelled differently. Words are divided among workers, so the
    answer does not depend on how many there are."""

    def look(part: int) -> tuple[list[str], list[tuple[str, str]]]:
        known: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in rows:
            words = plain_words(row["text"])
            if words and crc32(words.encode()) % workers == part:
                known[words].append(row)
        twice = [row["id"] for same in known.values() if is_long(plain_words(same[0]["text"])) for row in same[1:]]
        against = [
            (kind, row["id"])
            for same in known.values()
            for kind in KINDS
            if len({row[kind] for row in same if row[kind] is not None}) > 1
            for row in same
        ]
        return twice, against

    with ThreadPoolExecutor(workers) as pool:
        found = list(pool.map(look, range(workers)))
    twice = sorted(one for part, _ in found for one in part)
    if twice:
        message = f"{len(twice)} rows repeat the words of another"
        yield Finding(level="note", about="duplicates", message=message, rows=twice[:SHOWN])
    for kind in KINDS:
        against = sorted(one for _, part in found for of, one in part if of == kind)
        if against:
            message = f"{kind}: {len(against)} rows of the same words have different labels"
            yield Finding(level="warning", about="contradictions", message=message, rows=against[:SHOWN])


def _stray_labels(
    rows: Sequence[dict[str, Any]], version: DatasetVersion, names: NamesInForce | None
) -> Iterator[Finding]:
    """A label of ours was in force when a person gave it; what a file says nobody has looked at. NeMo's files declare
    their own."""
    if names is None or version.dictionaries:
        return
    level: Literal["error", "warning"] = "error" if version.source == "import" else "warning"
    for kind, known in (("sentiment", names.sentiments), ("intent", names.intents)):
        strays = sorted({row[kind] for row in rows if row[kind] is not None} - set(known))
        if strays:
            message = f"{kind}: {', '.join(strays[:20])} {'is' if len(strays) == 1 else 'are'} not in force"
            if level == "error":
                message += f"; correct the set, or name your own in language.{kind}s"
            yield Finding(level=level, about="labels", message=message)


def _personal(rows: Sequence[dict[str, Any]]) -> Iterator[Finding]:
    redactor = PatternRedactor(PERSONAL)
    found: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        for span in redactor.redact(row["text"], ()).spans:
            found[span.kind].append(row["id"])
    for kind, ids in sorted(found.items()):
        message = f"{len(ids)} rows seem to hold personal data: {kind.replace('_', ' ')}"
        yield Finding(level="warning", about="personal data", message=message, rows=sorted(set(ids))[:SHOWN])


def _audio(rows: Sequence[dict[str, Any]]) -> Iterator[Finding]:
    kinds = Counter((row["codec"], row["rate"]) for row in rows if row["audio"])
    if len(kinds) > 1:
        told = ", ".join(f"{codec} at {rate} Hz ({count})" for (codec, rate), count in kinds.most_common())
        yield Finding(level="warning", about="audio", message=f"codecs are mixed: {told}")
    silent = sum(not row["audio"] for row in rows)
    if kinds and silent:
        yield Finding(level="note", about="audio", message=f"{silent} rows have no audio")


def _short(rows: Sequence[dict[str, Any]]) -> Iterator[Finding]:
    empty = [row["id"] for row in rows if not plain_words(row["text"])]
    if empty:
        message = f"{len(empty)} rows have no words"
        yield Finding(level="note", about="short", message=message, rows=empty[:SHOWN])


def _population(place: Place, version: DatasetVersion) -> Iterator[dict[str, Any]]:
    from storage.snapshots.manifest import find

    blobs = BlobStore(place)
    for part in find(place, version.snapshot).parts:
        if part.kind == "sentences":
            columns = ["call", "queue", "site", "role", "sentiment"]
            yield from blobs.table(part.sha256, columns).to_pylist()
