"""`tenor db scan`: personal data that lies unredacted in the database, and conversations that lie there twice."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
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
from tenor.times import parse_since

if TYPE_CHECKING:
    from storage.db.engine import Database
    from storage.privacy.pii_scan import MaskResult
    from storage.privacy.scan_report import ScanReport, ScanTotals
    from tenor.redaction import Redactor
    from tenor.settings import Settings

SHOWN = 10
"""Ids of a list that are printed; --json has all."""


def scan(
    context: typer.Context,
    since: str = typer.Option("", "--since", metavar="TIME", help="Only calls since then: 2026-11-01, or 8w ago."),
    kinds: str = typer.Option(",".join(KINDS), "--kinds", metavar="KIND,...", help="What to look for."),
    redact: bool = typer.Option(False, "--redact", help="Mask in place what is found, and compact the database."),
    yes: bool = typer.Option(False, "--yes", "-y", help="Do not ask."),
    as_json: bool = typer.Option(False, "--json", help="Print the report as JSON, with the ids of all calls."),
) -> None:
    """Find personal data that is in the database unredacted, and conversations that are there twice.

    Looks through sentences, corrections, notes and alerts, and says how much there is and in which calls, never what.
    First come calls whose redaction should have taken it out. What platforms told about calls (customer, attributes)
    is counted apart and never changed. --redact does not change recordings.

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
            totals = _scan(database, redactor, oldest, frozenset(given.speech.redact_kinds))
            report = totals.report()
            if not as_json:
                _show(report)
            masked = None
            if redact and report.affected:
                if not yes:
                    _ask(report)
                masked = _mask(database, redactor, totals)
        notes = vacuum.compact(database) if masked and masked.calls else []
    finally:
        database.close()
    if as_json:
        done = {"masked": dict(masked.rows), "left": masked.left, "notes": notes} if masked else {}
        typer.echo(msgspec.json.encode(msgspec.to_builtins(report) | done).decode())
    elif masked:
        _show_masked(masked, report, notes)
    if report.affected:
        raise typer.Exit(1)


def _kinds(text: str) -> list[str]:
    wanted = [kind for one in text.split(",") if (kind := one.strip())]
    if unknown := [kind for kind in wanted if kind not in KINDS]:
        raise BadInput(f"--kinds: nothing is called {unknown[0]!r}", f"there are: {', '.join(KINDS)}")
    if not wanted:
        raise BadInput("--kinds: what to look for?", f"there are: {', '.join(KINDS)}")
    return wanted


def _redactor(given: Settings, kinds: list[str]) -> Redactor:
    from tenor.runtime.profiles import change_settings
    from tenor.runtime.redactor import make_redactor

    return make_redactor(change_settings(given, speech={"redact_kinds": kinds}))


def _scan(database: Database, redactor: Redactor, since: float, prevented: frozenset[str]) -> ScanTotals:
    from storage.privacy import pii_scan

    with _bar("scanning", pii_scan.count(database, since)) as advance:
        return pii_scan.scan(database, redactor, since=since, prevented=prevented, advance=advance)


def _mask(database: Database, redactor: Redactor, totals: ScanTotals) -> MaskResult:
    from storage.privacy import pii_scan

    with _bar("masking", totals.affected) as advance:
        return pii_scan.mask(database, redactor, totals, by=user_name(), advance=advance)


@contextmanager
def _bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    with progress() as bar:
        task = bar.add_task(what, total=total, detail="")

        def advance(by: int) -> None:
            bar.update(task, advance=by)
            bar.update(task, detail=f"{bar.tasks[0].completed:,.0f} of {total:,} calls")

        yield advance


def _ask(report: ScanReport) -> None:
    what = f"{sum(report.kinds.values()):,} places in {_calls(report.affected)}"
    if not sys.stdin.isatty():
        raise BadInput(f"{what} would be masked for good", "say --yes to do it without being asked")
    if not typer.confirm(f"Mask {what} for good?", err=True):
        raise typer.Exit(1)


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
