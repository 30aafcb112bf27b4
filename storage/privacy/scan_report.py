"""What a scan found: numbers and the ids of calls, and the texts as they would be. As large as it must be, it lies on
the disk."""

from __future__ import annotations

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Iterator

import msgspec

from storage.privacy.call_text import CallText, Finds, PiiFindings

WORST = 10
SPOKEN = ("sentences", "subjects", "turns")
"""What redaction would have been over, had it been switched on; notes and corrections are typed afterwards."""
SAME_WORDS = 8
"""Conversations with fewer words may well be the same: a greeting, and somebody hangs up."""


class AffectedCall(msgspec.Struct, frozen=True):
    call: str
    mode: str
    """Its redaction: off, text or audio."""
    found: int


class MaskedText(msgspec.Struct, frozen=True):
    """A text as it is once it is masked."""

    call: str
    table: str
    text: str


class ScanReport(msgspec.Struct, frozen=True, kw_only=True):
    calls: int
    """Looked at,"""
    texts: int
    """with so many sentences, corrections, notes, alerts and turns."""
    affected: int
    """Calls in which something was found."""
    kinds: dict[str, int]
    tables: dict[str, dict[str, int]]
    queues: dict[str, dict[str, int]]
    anomalies: list[AffectedCall]
    """Calls whose redaction should have taken it out."""
    worst: list[AffectedCall]
    told: dict[str, dict[str, int]]
    """In what platforms said about calls; that is kept as it came, and counts nowhere else."""
    recordings: list[str]
    """Affected calls with a recording in which the words may be heard."""
    duplicates: list[list[str]]
    """Calls with the same conversation."""


class ScanTotals:
    def __init__(self, prevented: frozenset[str] = frozenset()) -> None:
        """`prevented`: kinds that redaction takes out where it is switched on."""
        self.calls = self.texts = 0
        self.told: Finds = Counter()
        self._prevented = prevented
        self._tables: Finds = Counter()
        self._queues: Finds = Counter()
        self._calls = sqlite3.connect("")  # a file without a name, gone with the connection
        self._calls.execute("CREATE TABLE affected (call, mode, found, anomaly, heard)")
        self._calls.execute("CREATE TABLE conversations (digest, call)")
        self._calls.execute("CREATE TABLE masked (call, place, text)")

    def add(self, call_text: CallText, found: PiiFindings) -> None:
        call = call_text.call
        self.calls += 1
        belonging = (call_text.sentences, call_text.labels, call_text.notes, call_text.alerts, call_text.turns)
        self.texts += sum(map(len, belonging))
        self.told.update(found.told)
        self._tables.update(found.finds)
        for (_, kind), count in found.finds.items():
            self._queues[call.queue, kind] += count
        if total := found.finds.total():
            redacted = call.redact not in ("", "off")
            slipped = any(count and place in SPOKEN and kind in self._prevented
                          for (place, kind), count in found.finds.items())  # fmt: skip
            heard = bool(call.recording) and call.redact != "audio"
            row = (call.id, call.redact or "off", total, redacted and slipped, heard)
            self._calls.execute("INSERT INTO affected VALUES (?, ?, ?, ?, ?)", row)
        for change in found.changes:
            masked = [(call.id, change.table.name, text) for text in change.texts()]
            self._calls.executemany("INSERT INTO masked VALUES (?, ?, ?)", masked)
        if sum(len(row.text.split()) for row in call_text.sentences) >= SAME_WORDS:
            said = msgspec.json.encode([(row.role, row.text) for row in call_text.sentences])
            digest = hashlib.sha256(said).digest()
            self._calls.execute("INSERT INTO conversations VALUES (?, ?)", (digest, call.id))

    @property
    def affected(self) -> int:
        (count,) = self._calls.execute("SELECT count(*) FROM affected").fetchone()
        return int(count)

    def affected_calls(self) -> Iterator[str]:
        return (call for (call,) in self._calls.execute("SELECT call FROM affected ORDER BY call"))

    def masked_texts(self, limit: int = -1) -> Iterator[MaskedText]:
        """What `mask` would write."""
        rows = self._calls.execute("SELECT call, place, text FROM masked ORDER BY call, rowid LIMIT ?", (limit,))
        return (MaskedText(*row) for row in rows)

    def report(self) -> ScanReport:
        ranked = "SELECT call, mode, found FROM affected {} ORDER BY found DESC, call"
        kinds: Counter[str] = Counter()
        for (_, kind), count in self._tables.items():
            kinds[kind] += count
        return ScanReport(
            calls=self.calls,
            texts=self.texts,
            affected=self.affected,
            kinds=dict((+kinds).most_common()),
            tables=_nested(self._tables),
            queues=_nested(self._queues),
            anomalies=[AffectedCall(*row) for row in self._calls.execute(ranked.format("WHERE anomaly"))],
            worst=[AffectedCall(*row) for row in self._calls.execute(f"{ranked.format('')} LIMIT {WORST}")],
            told=_nested(self.told),
            recordings=[call for (call,) in self._calls.execute("SELECT call FROM affected WHERE heard ORDER BY call")],
            duplicates=self._duplicates(),
        )

    def _duplicates(self) -> list[list[str]]:
        twice = "SELECT digest FROM conversations GROUP BY digest HAVING count(*) > 1"
        groups: dict[bytes, list[str]] = {}
        for digest, call in self._calls.execute(
            f"SELECT digest, call FROM conversations WHERE digest IN ({twice}) ORDER BY call"
        ):
            groups.setdefault(digest, []).append(call)
        return list(groups.values())


def _nested(finds: Finds) -> dict[str, dict[str, int]]:
    nested: dict[str, dict[str, int]] = {}
    for (place, kind), count in sorted(finds.items()):
        if count:
            nested.setdefault(place, {})[kind] = count
    return nested
