"""`tenor db scan`: personal data that lies unredacted in the database, and conversations that lie there twice."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec
import typer
from rich.markup import escape
from rich.table import Table

from tenor.cli.context import settings, user_name
from tenor.cli.output import console, progress, say
from tenor.errors import BadInput
from tenor.redaction import KINDS
from tenor.redaction.masking import LABELS
from tenor.times import parse_since

if TYPE_CHECKING:
    from storage.db.engine import Database
    from storage.privacy.pii_scan import MaskResult
    from storage.privacy.scan_report import ScanReport, ScanTotals
    from tenor.redaction import Redactor
    from tenor.settings import Settings

SHOWN = 10
"""Lines of a list that are printed; --json has all."""
AROUND = 40
"""Characters that are printed around what is masked."""


def scan(
    context: typer.Context,
    since: str = typer.Option("", "--since", metavar="TIME", help="Only calls since then: 2026-11-01, or 8w ago."),
    kinds: str | None = typer.Option(
        None, "--kinds", metavar="KIND,...", help=f"What to look for: {', '.join(KINDS)} (default: all of them)."
    ),
    redact: bool = typer.Option(
        False, "--redact", help="Show the texts as they would be, ask, mask them in place and compact the database."
    ),
    yes: bool = typer.Option(False, "--yes", "-y", help="Mask without asking."),
    as_json: bool = typer.Option(False, "--json", help="Print the report as JSON, with the ids of all calls."),
) -> None:
    """Find personal data that is in the database unredacted, and conversations that are there twice.

    Looks through sentences, corrections, notes and alerts, and says how much there is and in which calls, never what.
    First come calls whose redaction should have taken it out. What platforms told about calls (customer, attributes)
    is counted apart and never changed.

    --redact masks the kinds of --kinds and no others, for good; recordings stay. First it shows the texts as they
    would be, and asks; where nobody can be asked, and with --json, it masks only with --yes.

    Exits with 0 when the conversations hold nothing, with 1 when something was found, also if it was masked.
    """
    from storage.db import vacuum
    from storage.db.engine import open_database
    from storage.db.errors import explaining

    wanted = _kinds(kinds)
    oldest = parse_since(since)
    given = settings(context)
    redactor = _redactor(given, wanted)
    database = open_database(given)
    try:
        with explaining(database.engine.url):
            totals = _scan(database, redactor, wanted, oldest, frozenset(given.speech.redact_kinds))
            report = totals.report()
            if not as_json:
                _show(report)
            masked = None
            if redact and report.affected:
                if not as_json:
                    _show_masks(totals)
                if yes or _agreed(report, ask=not as_json):
                    masked = _mask(database, redactor, wanted, totals)
        notes = vacuum.compact(database) if masked and masked.calls else []
    finally:
        database.close()
    if as_json:
        would: dict[str, object] = {"as_masked": list(totals.masked_texts())} if redact else {}
        done = {"masked": dict(masked.rows), "left": masked.left, "notes": notes} if masked else {}
        typer.echo(msgspec.json.encode(msgspec.to_builtins(report) | would | done).decode())
    elif masked:
        _show_masked(masked, report, notes)
    if report.affected:
        raise typer.Exit(1)


def _kinds(text: str | None) -> Sequence[str]:
    if text is None:
        return KINDS
    wanted = [kind for one in text.split(",") if (kind := one.strip())]
    if unknown := [kind for kind in wanted if kind not in KINDS]:
        raise BadInput(f"--kinds: nothing is called {unknown[0]!r}", f"there are: {', '.join(KINDS)}")
    if not wanted:
        raise BadInput("--kinds: what to look for?", f"there are: {', '.join(KINDS)}")
    return wanted


def _redactor(given: Settings, kinds: Sequence[str]) -> Redactor:
    from tenor.runtime.profiles import change_settings
    from tenor.runtime.redactor import make_redactor

    return make_redactor(change_settings(given, speech={"redact_kinds": [*kinds]}))


def _scan(
    database: Database, redactor: Redactor, kinds: Sequence[str], since: float, prevented: frozenset[str]
) -> ScanTotals:
    from storage.privacy import pii_scan

    with _bar("scanning", pii_scan.count(database, since)) as advance:
        return pii_scan.scan(database, redactor, kinds=kinds, since=since, prevented=prevented, advance=advance)


def _mask(database: Database, redactor: Redactor, kinds: Sequence[str], totals: ScanTotals) -> MaskResult:
    from storage.privacy import pii_scan

    with _bar("masking", totals.affected) as advance:
        return pii_scan.mask(database, redactor, totals, kinds=kinds, by=user_name(), advance=advance)


@contextmanager
def _bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    with progress() as bar:
        task = bar.add_task(what, total=total, detail="")

        def advance(by: int) -> None:
            bar.update(task, advance=by)
            bar.update(task, detail=f"{bar.tasks[0].completed:,.0f} of {total:,} calls")

        yield advance


def _agreed(report: ScanReport, *, ask: bool) -> bool:
    what = f"{sum(report.kinds.values()):,} places in {_calls(report.affected)}"
    if ask and sys.stdin.isatty():
        return typer.confirm(f"Mask {what} for good?", err=True)
    say(f"nothing is masked: {what} would be, for good, with --yes")
    return False


def _show_masks(totals: ScanTotals) -> None:
    """Some of the texts as they would be: with a wrong mask in them, --kinds can do without its kind."""
    texts = list(totals.masked_texts(SHOWN + 1))
    console.print("\nas it would be")
    for one in texts[:SHOWN]:
        console.print(f"  {escape(one.call)}  {one.table}  {escape(_around(one.text))}", soft_wrap=True)
    if len(texts) > SHOWN:
        console.print("  and more: --json")


def _around(text: str) -> str:
    """The first thing that is masked, and what stands beside it."""
    first = min(place for label in LABELS.values() if (place := text.find(label)) >= 0)
    start, end = max(0, first - AROUND), first + AROUND
    return f"{'…' * (start > 0)}{' '.join(text[start:end].split())}{'…' * (end < len(text))}"


def _show(report: ScanReport) -> None:
    if report.anomalies:
        many = _calls(len(report.anomalies))
        console.print(f"[bold yellow]anomalies[/]     {many} in which redaction should have taken it out")
        for one in report.anomalies[:SHOWN]:
            console.print(f"  {escape(one.call)}  {one.mode}  {one.found:,}", soft_wrap=True)
        _more(len(report.anomalies))
    console.print(f"{'scanned':14}{_calls(report.calls)}, {report.texts:,} texts")
    console.print(f"{'found':14}{sum(report.kinds.values()):,} in {_calls(report.affected)}")
    for title, groups in (("table", report.tables), ("queue", report.queues), ("told by platforms", report.told)):
        if groups:
            _print_groups(title, groups)
    if report.worst:
        console.print("\nworst calls")
        for one in report.worst:
            console.print(f"  {escape(one.call)}  {one.mode}  {one.found:,}", soft_wrap=True)
    if report.recordings:
        console.print(f"\n{_calls(len(report.recordings))} of these with a recording, in which it may be heard")
        _print_ids(report.recordings)
    if report.duplicates:
        console.print(f"\nconversations that lie here more than once: {len(report.duplicates):,}")
        for group in report.duplicates[:SHOWN]:
            console.print(f"  {escape(' = '.join(group))}", soft_wrap=True)
        _more(len(report.duplicates))


def _print_groups(title: str, groups: dict[str, dict[str, int]]) -> None:
    kinds = [kind for kind in KINDS if any(kind in counts for counts in groups.values())]
    table = Table(title, *kinds, box=None, header_style="dim")
    for name, counts in groups.items():
        table.add_row(escape(name) or "-", *(f"{counts[kind]:,}" if kind in counts else "" for kind in kinds))
    console.print()
    console.print(table)


def _show_masked(masked: MaskResult, report: ScanReport, notes: Iterable[str]) -> None:
    from tenor.events import DAY, SENTENCES

    rows = ", ".join(f"{count:,} {table}" for table, count in masked.rows.items())
    console.print(
        f"\n{'masked':14}{_calls(masked.calls)}: {rows or 'no rows'}; the database is compacted", soft_wrap=True
    )
    if masked.left:
        console.print(f"{'left':14}{_calls(len(masked.left))} not over yet")
        _print_ids(masked.left)
    if report.recordings:
        console.print(f"{'recordings':14}not changed: {_calls(len(report.recordings))} above keep theirs")
    say(f"[dim]the bus keeps what was published for {SENTENCES.retention_s // DAY} days; exports and backups stay[/]")
    for note in notes:
        say(f"[dim]{escape(note)}[/]")


def _print_ids(ids: list[str]) -> None:
    for one in ids[:SHOWN]:
        console.print(f"  {escape(one)}", soft_wrap=True)
    _more(len(ids))


def _more(count: int) -> None:
    if count > SHOWN:
        console.print(f"  and {count - SHOWN:,} more: --json")


def _calls(count: int) -> str:
    return f"{count:,} call{'' if count == 1 else 's'}"
