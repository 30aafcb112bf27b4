"""`tenor snapshot`: the archive at one moment, under a name."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from rich.markup import escape
from rich.table import Column, Table

from tenor.cli.context import settings, user_name
from tenor.cli.output import complain, console, progress, say, size
from tenor.cli.params import Json
from tenor.errors import BadInput
from tenor.runtime.profiles import QUIET

if TYPE_CHECKING:
    from storage.snapshots import Snapshot, SnapshotReport

app = typer.Typer(no_args_is_help=True, help="Snapshots of the archive: taken, compared, verified, restored.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="As `tenor snapshot list` shows it.", show_default=False)]
KINDS = ("sentences", "labels", "turns", "audio")


@app.command()
def take(
    context: typer.Context,
    job: str = typer.Option("", "--job", metavar="JOB", help="What it is for, such as learn-42; part of its name."),
    files: list[Path] = typer.Option([], "--with", metavar="PATH", help="Files or folders that belong to it."),
    as_json: Json = False,
) -> None:
    """Bring the archive up to date, and take a snapshot of it.

    It is named snap-calls-JOB-2026-11-18-03-00-00, costs only what is new in it, and never changes but by an erasure.
    """
    from storage.archive.archiver import archive
    from storage.db.engine import using
    from storage.snapshots import take as take_snapshot

    given = settings(context, unless_set=QUIET)
    with using(given) as database, progress() as bars:
        task = bars.add_task("archive", total=None, detail="")
        archive(database, given, lambda done, total, what: bars.update(task, total=total, completed=done, detail=what))
    made = take_snapshot(given, by=user_name(), job=job, files=_files(files))
    if as_json:
        typer.echo(msgspec.json.encode(_summary(made)).decode())
    else:
        console.print(f"{made.name}   +{size(made.new_bytes)}")


@app.command("list")
def list_snapshots(context: typer.Context, as_json: Json = False) -> None:
    """Show all snapshots, the oldest first."""
    from storage.place import Place
    from storage.snapshots import listing

    found = list(listing(Place(settings(context, unless_set=QUIET).learn_url)))
    if as_json:
        for one in found:
            typer.echo(msgspec.json.encode(_summary(one)).decode())
    elif not found:
        say("no snapshot yet: `tenor snapshot take` makes one")
    else:
        name = Column("name", no_wrap=True, min_width=max(len(one.name) for one in found))
        table = Table(name, "size", "new", "calls", *KINDS, "amended by", box=None, header_style="dim")
        for one in found:
            told = _summary(one)
            numbers = (f"{told[kind]:,}" for kind in ("calls", *KINDS))
            amended = f"{one.erasures} erasure{'' if one.erasures == 1 else 's'}" if one.erasures else ""
            table.add_row(escape(one.name), size(one.bytes), size(one.new_bytes), *numbers, amended)
        console.print(table)


@app.command()
def show(context: typer.Context, name: Name, as_json: Json = False) -> None:
    """Show what a snapshot holds, day by day, and what erasures amended."""
    from storage.place import Place
    from storage.snapshots import find

    found = find(Place(settings(context, unless_set=QUIET).learn_url), name)
    if as_json:
        typer.echo(msgspec.json.encode(found).decode())
        return
    console.print(f"{'name':12}{escape(found.name)}")
    console.print(
        f"{'taken':12}{datetime.fromtimestamp(found.taken_at).astimezone():%Y-%m-%d %H:%M:%S} by {escape(found.by)}"
    )
    console.print(f"{'root':12}{found.root}")
    console.print(f"{'size':12}{size(found.bytes)}, {size(found.new_bytes)} of it new")
    for one in found.amendments:
        what = f"{one.rows} row{'' if one.rows == 1 else 's'} of {one.kind} of {one.key}"
        console.print(f"{'amended':12}{what} removed, receipt {one.receipt}", soft_wrap=True)
    table = Table("day or file", "part", "rows", "size", "SHA-256", box=None, header_style="dim")
    for part in sorted(found.parts, key=lambda part: (part.key, part.kind)):
        table.add_row(escape(part.key), part.kind, f"{part.rows:,}", size(part.bytes + part.below), part.sha256[:16])
    console.print(table)


@app.command()
def diff(context: typer.Context, before: Name, after: Name, as_json: Json = False) -> None:
    """Show how two snapshots differ, part by part."""
    from storage.place import Place
    from storage.snapshots import find, manifest

    place = Place(settings(context, unless_set=QUIET).learn_url)
    changes = manifest.diff(find(place, before), find(place, after))
    if as_json:
        for change in changes:
            typer.echo(msgspec.json.encode(change._asdict()).decode())
    elif not changes:
        say("no difference")
    else:
        table = Table("", "day or file", "part", "rows before", "rows after", box=None, header_style="dim")
        for change in changes:
            table.add_row(
                change.change, escape(change.key), change.kind, f"{change.rows_before:,}", f"{change.rows_after:,}"
            )
        console.print(table)


@app.command()
def verify(
    context: typer.Context,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="All, and all datasets, if none is named.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Read every blob and check its hash. The exit code is 1 if something is missing or damaged.

    Without NAME, the blobs of datasets are read, too.
    """
    from storage.archive.sealing.place import ArchivePlace
    from storage.snapshots import listing, verify_datasets
    from storage.snapshots import verify as verify_snapshot

    place = ArchivePlace(settings(context, unless_set=QUIET))
    with progress() as bars:
        task = bars.add_task("reading", total=None, detail="")

        def show(done: int, total: int) -> None:
            bars.update(task, completed=done, total=total, detail=f"{done} of {total}")

        wanted = names or [one.name for one in listing(place)]
        reports = [verify_snapshot(place, name, show) for name in wanted]
        reports += [] if names else verify_datasets(place, show)
    _tell(reports, as_json)


@app.command()
def restore(
    context: typer.Context,
    name: Name,
    into: str = typer.Option("", "--into", metavar="NEW", help="A new folder or URL, which becomes an archive."),
    clone: str = typer.Option(
        "", "--clone", metavar="VOLUME", help="On ONTAP: a new volume, cloned from the snapshot."
    ),
    as_json: Json = False,
) -> None:
    """Make a new archive of a snapshot, beside the old one, which stays as it is.

    Set `learn.url` to NEW, and datasets, training and everything else go by what the snapshot holds.
    """
    from storage.place import Place
    from storage.snapshots import find, ontap
    from storage.snapshots import restore as restore_snapshot

    given = settings(context, unless_set=QUIET)
    if bool(into) == bool(clone):
        raise BadInput("where to?", "give --into NEW, or --clone VOLUME where ONTAP has the snapshot")
    if clone:
        taken = find(Place(given.learn_url), name)
        if not taken.ontap:
            raise BadInput(f"ONTAP has no snapshot {name}", "restore it with --into NEW")
        ontap.clone_volume(given, name, taken.ontap, clone)
        say(f"volume {escape(clone)} is a clone of {escape(taken.ontap)} as it was in {escape(name)}")
        return
    with progress() as bars:
        task = bars.add_task(f"restoring {name}", total=None, detail="")
        report = restore_snapshot(
            given, name, into, progress=lambda done, total: bars.update(task, completed=done, total=total)
        )
    if not as_json:
        say(f"restored into {escape(into)}: use it with --set learn.url={escape(into)}")
    _tell([report], as_json)


def _tell(reports: list[SnapshotReport], as_json: bool) -> None:
    for report in reports:
        if as_json:
            typer.echo(msgspec.json.encode(report).decode())
            continue
        amended = (
            f", amended by {report.erasures} erasure{'' if report.erasures == 1 else 's'}" if report.erasures else ""
        )
        if report.erased_calls:
            amended += f", {report.erased_calls} of its calls erased by deleting their keys"
        state = "sound" if report.sound else "NOT SOUND"
        console.print(
            f"{escape(report.name)}: {state}, {report.blobs:,} blobs, {size(report.bytes)}{amended}", soft_wrap=True
        )
        if not report.root_matches:
            complain(f"{report.name}: what it names is not what it named when it was taken")
        for fault in report.faults:
            complain(f"blob {fault.sha256} is {fault.fault}: {fault.of}")
    if not all(report.sound for report in reports):
        raise typer.Exit(1)


def _summary(snapshot: Snapshot) -> dict[str, object]:
    return {
        "name": snapshot.name,
        "taken_at": snapshot.taken_at,
        "by": snapshot.by,
        "job": snapshot.job,
        "root": snapshot.root,
        "bytes": snapshot.bytes,
        "new_bytes": snapshot.new_bytes,
        "erasures": snapshot.erasures,
        "calls": sum(part.calls for part in snapshot.parts if part.kind == "sentences"),
        **{kind: snapshot.rows(kind) for kind in KINDS},
    }


def _files(given: list[Path]) -> dict[str, Path]:
    """By the name each gets in the snapshot."""
    found: dict[str, Path] = {}
    for path in given:
        if not path.exists():
            raise BadInput(f"there is no {path}")
        below = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
        found |= {str(one.relative_to(path.parent)): one for one in below}
    return found
