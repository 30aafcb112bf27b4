"""`tenor archive`: what changed since last time, to the archive; and to a second place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import typer
from rich.markup import escape

from tenor.cli.context import settings
from tenor.cli.output import complain, console, progress, size, warn
from tenor.cli.params import Json
from tenor.runtime.profiles import QUIET

if TYPE_CHECKING:
    from storage.archive.archiver import ArchiveCounts
    from storage.archive.sync import SyncReport


def archive(
    context: typer.Context,
    to: str = typer.Option("", "--to", metavar="URL", help="A folder or URL: then bring this second place up to date."),
    as_json: Json = False,
) -> None:
    """Bring the archive up to date: finished calls, labels, turns of the assistant and audio, as far as they changed.

    The archive is below `learn.url`, in the home folder by default. Models are trained from it; see docs/archive.md.
    With --to, or the setting `learn.sync`, a second place gets what is new. Both can be interrupted at any moment.
    """
    from storage.archive.archiver import archive as bring_up_to_date
    from storage.archive.sync import sync
    from storage.db.engine import using

    given = settings(context, unless_set=QUIET)
    second = to or given.learn.sync
    with using(given) as database, progress() as bars:
        task = bars.add_task("archive", total=None, detail="")

        def show(done: int, total: int, what: str) -> None:
            bars.update(task, total=total, completed=done, detail=what)

        counts = bring_up_to_date(database, given, show)
    report = None
    if second:
        with progress() as bars:
            task = bars.add_task(f"copying to {second}", total=None, detail="")
            report = sync(
                given,
                second,
                lambda done, total: bars.update(task, completed=done, total=total, detail=f"{done} of {total}"),
            )
    if as_json:
        typer.echo(msgspec.json.encode({"archive": counts, "sync": report}).decode())
    else:
        _show(counts)
        if report:
            _show_sync(report)
    for fault in counts.faults:
        complain(fault)
    if counts.faults or (report and report.damaged):
        raise typer.Exit(1)


def _show(counts: ArchiveCounts) -> None:
    days = f"{counts.changed_days} day{'' if counts.changed_days == 1 else 's'} changed"
    console.print(f"{'new':12}{days}, {counts.new_blobs:,} files, {size(counts.new_bytes)}")
    if counts.expired_calls:
        console.print(f"{'past time':12}{counts.expired_calls:,} calls taken out")
    holds = f"{counts.calls:,} calls, {counts.sentences:,} sentences, {counts.labels:,} labels, {counts.turns:,} turns"
    console.print(f"{'archive':12}{holds}, {counts.audio:,} channels of audio, {size(counts.bytes)}", soft_wrap=True)


def _show_sync(report: SyncReport) -> None:
    copied = f"{report.copied:,} files copied ({size(report.copied_bytes)}), {report.known:,} were there"
    console.print(f"{'second':12}{escape(report.to)}: {copied}, {report.deleted:,} deleted", soft_wrap=True)
    for sha256 in report.damaged:
        warn(f"blob {sha256} is missing or damaged here, and was not copied")
