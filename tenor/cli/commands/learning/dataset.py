"""`tenor dataset`: which sentences models learn from, made, imported, checked, cached and exported."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from rich.markup import escape
from rich.table import Table

from tenor.cli.context import settings, user_name
from tenor.cli.output import complain, console, progress, say, size, warn
from tenor.cli.params import Json
from tenor.errors import BadInput
from tenor.runtime.profiles import QUIET

if TYPE_CHECKING:
    from storage.datasets import DatasetVersion

app = typer.Typer(
    no_args_is_help=True, help="Datasets: which sentences models learn from, and what is wrong with them."
)

Reference = Annotated[
    str, typer.Argument(metavar="NAME[@N]", help="A dataset; without @N its newest version.", show_default=False)
]
NameOption = Annotated[str, typer.Option("--name", metavar="NAME", help="The name of the dataset.")]
SPLITS = ("train", "val", "test", "holdout")


@app.command()
def make(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A new dataset, or a new version of one.", show_default=False)
    ],
    search: str = typer.Option(
        "",
        "--search",
        metavar="QUERY",
        help='Which sentences, e.g. "queue:billing since:2026-11-01 refund"; all by default.',
    ),
    snapshot: str = typer.Option(
        "", "--snapshot", metavar="SNAPSHOT", help="Take them from this snapshot instead of a new one."
    ),
    unlabelled: bool = typer.Option(False, "--all", help="Also sentences that nobody labelled."),
    as_json: Json = False,
) -> None:
    """Freeze a search: the sentences it finds, with the labels they have now, split so that nothing leaks.

    A dataset holds ids and labels; the words stay in the archive. If nothing has changed, there is no new version.
    """
    from storage.archive.archiver import archive
    from storage.datasets.making import check_search
    from storage.datasets.making import make as make_dataset
    from storage.datasets.splits import plain_words
    from storage.db.engine import using
    from storage.snapshots import current_or_taken
    from tenor.runtime.frozen import frozen_sentences

    given, began = settings(context, unless_set=QUIET), time.time()
    with using(given) as database:
        check_search(database, given, name, search)
        if not snapshot:
            with progress() as bars:
                task = bars.add_task("archive", total=None, detail="")
                archive(
                    database,
                    given,
                    lambda done, total, what: bars.update(task, total=total, completed=done, detail=what),
                )
            snapshot = current_or_taken(given, by=user_name(), job=f"dataset-{name}").name
        frozen = {plain_words(text) for text in frozen_sentences()}
        made = make_dataset(
            database, given, name, search, snapshot=snapshot, by=user_name(), unlabelled=unlabelled, frozen=frozen
        )
    _tell(made, as_json, began)


@app.command("import")
def import_dataset(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(metavar="PATH", help="File, folder or bundle.", show_default=False)],
    name: NameOption = "",
    as_json: Json = False,
) -> None:
    """Make a dataset of files in other formats, or of a bundle from another site.

    PATH is a NeMo manifest (JSON lines with audio_filepath, duration and text) or a folder of them, a folder with
    audio/ and calls/, NeMo's files of intents and slots, a tree DATASET_NAME/COMPANY_DATE/ of recordings with texts,
    or a .tar of `tenor dataset export`.
    """
    from storage.datasets.bundle import import_bundle, is_bundle
    from storage.datasets.importing import import_dataset as import_data

    given, began = settings(context, unless_set=QUIET), time.time()
    with _bar("importing") as show:
        if is_bundle(path):
            made, began = import_bundle(given, path, name, progress=show), 0.0  # it keeps when it was made there
        else:
            made = import_data(given, path, name or _plain(path), by=user_name(), progress=show)
    _tell(made, as_json, began)


@app.command()
def fetch(
    context: typer.Context,
    wanted: Annotated[
        str, typer.Argument(metavar="NAME|URL", help="A public set that is known, or where one is.", show_default=False)
    ],
    name: NameOption = "",
    sha256: str = typer.Option("", "--hash", metavar="SHA256", help="The SHA-256 that the file must have."),
    as_json: Json = False,
) -> None:
    """Fetch a public set and import it; if it is there already, do nothing.

    It goes on where it was interrupted. A .tar or .zip is unpacked, and read as `tenor dataset import` reads it.
    """
    from storage.datasets.fetching import fetch as fetch_dataset

    given, began = settings(context, unless_set=QUIET), time.time()
    with _bar("fetching") as show_progress:
        made = fetch_dataset(given, wanted, name, by=user_name(), sha256=sha256, progress=show_progress)
    _tell(made, as_json, began)


@app.command("list")
def list_datasets(context: typer.Context, as_json: Json = False) -> None:
    """Show all datasets with their versions."""
    from storage.archive.sealing.place import ArchivePlace
    from storage.datasets import listing
    from storage.datasets.cache import entry_name, use

    given = settings(context, unless_set=QUIET)
    found = list(listing(ArchivePlace(given)))
    cached = {entry.name for entry in use(given).entries}
    if as_json:
        for one in found:
            typer.echo(msgspec.json.encode({**_summary(one), "cached": entry_name(one) in cached}).decode())
    elif not found:
        say("no dataset yet: `tenor dataset make NAME` makes one of your labels")
    else:
        table = Table(box=None, header_style="dim")
        for column in ("dataset", *SPLITS, "size", "made", "by", "cached", "from"):
            table.add_column(column, no_wrap=column != "from", overflow="fold")
        for one in found:
            numbers = (f"{one.counts.get(split, 0):,}" for split in SPLITS)
            hot = "yes" if entry_name(one) in cached else ""
            made = f"{datetime.fromtimestamp(one.made_at).astimezone():%Y-%m-%d %H:%M}"
            table.add_row(
                one.reference, *numbers, size(one.bytes), made, escape(one.by), hot, escape(one.query or one.source)
            )
        console.print(table)


@app.command()
def show(context: typer.Context, reference: Reference, as_json: Json = False) -> None:
    """Show a version: where it comes from, its splits and labels, and what erasures took out of it."""
    from storage.archive.sealing.place import ArchivePlace
    from storage.datasets import find

    found = find(ArchivePlace(settings(context, unless_set=QUIET)), reference)
    if as_json:
        typer.echo(msgspec.json.encode(found).decode())
        return
    console.print(f"{'dataset':12}{found.reference}{f', after {found.name}@{found.parent}' if found.parent else ''}")
    console.print(
        f"{'made':12}{datetime.fromtimestamp(found.made_at).astimezone():%Y-%m-%d %H:%M:%S} by {escape(found.by)}"
    )
    console.print(f"{'from':12}{found.source} {escape(found.query)}", soft_wrap=True)
    if found.snapshot:
        console.print(f"{'snapshot':12}{escape(found.snapshot)}")
    console.print(f"{'hash':12}{found.hash}")
    _show_counts(found)
    for kind, counts in found.labels.items():
        told = ", ".join(f"{value} {count:,}" for value, count in sorted(counts.items(), key=lambda one: -one[1]))
        console.print(f"{kind:12}{escape(told)}", soft_wrap=True)
    if found.erasures:
        console.print(f"{'amended':12}by {found.erasures} erasure{'' if found.erasures == 1 else 's'}")


@app.command()
def diff(context: typer.Context, before: Reference, after: Reference, as_json: Json = False) -> None:
    """Show how two versions differ: rows that came, went, have another label or another split."""
    from storage.archive.sealing.place import ArchivePlace
    from storage.datasets import find, versions

    place = ArchivePlace(settings(context, unless_set=QUIET))
    found = versions.diff(place, find(place, before), find(place, after))
    if as_json:
        typer.echo(msgspec.json.encode(found._asdict()).decode())
        return
    for what, ids in found._asdict().items():
        some = f"  {', '.join(ids[:5])}{' ...' if len(ids) > 5 else ''}" if ids else ""
        console.print(f"{what:12}{len(ids):,}{escape(some)}", soft_wrap=True)


@app.command()
def check(
    context: typer.Context,
    reference: Reference,
    workers: int = typer.Option(2, "--workers", min=1, max=64, help="How many processes search for equal words."),
    as_json: Json = False,
) -> None:
    """Prove that nothing leaks between the splits, and report what is odd: balance, duplicates, personal data and more.

    The exit code is 1 if there is an error; nothing is trained with such a dataset.
    """
    from storage.archive.sealing.place import ArchivePlace
    from storage.datasets import find
    from storage.db.engine import using
    from tenor.learn.dataset_check import check_dataset

    given = settings(context, unless_set=QUIET)
    version = find(ArchivePlace(given), reference)
    with using(given) as database, _bar("checking") as show_progress:
        report = check_dataset(given, database, version, workers=workers, progress=show_progress)
    if as_json:
        typer.echo(msgspec.json.encode(report).decode())
    else:
        _show_counts(version)
        for share in report.shares:
            told = ", ".join(
                f"{value or '(none)'} {part:.0%} ({share.population[value]:.0%} of all)"
                for value, part in share.dataset.items()
            )
            console.print(f"{share.field:12}{escape(told)}", soft_wrap=True)
        for finding in report.findings:
            rows = f" ({', '.join(finding.rows)})" if finding.rows else ""
            tell = {"error": complain, "warning": warn, "note": _note}[finding.level]
            tell(f"{finding.about}: {finding.message}{rows}")
        console.print("may be trained with" if report.may_train else "may NOT be trained with")
    if not report.may_train:
        raise typer.Exit(1)


@app.command()
def cache(
    context: typer.Context,
    reference: Annotated[
        str, typer.Argument(metavar="NAME[@N]", help="A dataset; without one, the command lists the cache.")
    ] = "",
    clear: bool = typer.Option(False, "--clear", help="Remove it from the cache."),
    pin: bool = typer.Option(False, "--pin", help="Keep it there, even if nobody uses it."),
    unpin: bool = typer.Option(False, "--unpin", help="Let it be removed again when room is needed."),
    as_json: Json = False,
) -> None:
    """Put a dataset near the computation, with its audio decoded; or show what is there and what is free."""
    from storage.archive.sealing.place import ArchivePlace
    from storage.datasets import cache as datasets_cache
    from storage.datasets import find, open_dataset

    given = settings(context, unless_set=QUIET)
    if reference:
        version = find(ArchivePlace(given), reference)
        if clear:
            if not datasets_cache.clear(given, version):
                raise BadInput(f"{version.reference} is not in the cache, or somebody uses it")
        elif pin or unpin:
            datasets_cache.pin(given, version, pin)
        else:
            with _bar("decoding") as show_progress:
                open_dataset(given, version.reference, progress=show_progress).close()
    else:
        datasets_cache.evict(given)
    found = datasets_cache.use(given)
    if as_json:
        entries = [entry._asdict() for entry in found.entries]
        typer.echo(msgspec.json.encode({"entries": entries, "bytes": found.bytes, "free": found.free}).decode())
        return
    for entry in found.entries:
        state = ", ".join(word for word, so in (("pinned", entry.pinned), ("in use", entry.in_use)) if so)
        used = f"{datetime.fromtimestamp(entry.used_at).astimezone():%Y-%m-%d %H:%M}"
        console.print(f"{escape(entry.name):40}{size(entry.bytes):>10}  used {used}  {state}")
    console.print(f"{size(found.bytes)} used, {size(found.free)} free")


@app.command()
def export(
    context: typer.Context,
    reference: Reference,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="PATH", help="A .tar, or a folder.", show_default=False)],
    form: str = typer.Option(
        "bundle",
        "--format",
        "-f",
        metavar="FORM",
        help="bundle, manifest (NeMo, speech), nemo (intents and slots) or tree.",
    ),
    as_json: Json = False,
) -> None:
    """Write a dataset as a bundle for another site, or in the format of other tools.

    tree is DATASET_NAME/COMPANY_DATE/ with a recording and a text per row.
    """
    from storage.archive.sealing.place import ArchivePlace
    from storage.datasets import exporting, find, open_dataset
    from storage.datasets.bundle import export_bundle

    given = settings(context, unless_set=QUIET)
    place = ArchivePlace(given)
    version = find(place, reference)
    if form not in ("bundle", "manifest", "nemo", "tree"):
        raise BadInput(f"{form!r} is no format", "one of bundle, manifest, nemo, tree")
    with _bar("exporting") as show_progress:
        if form == "bundle":
            if out.suffix != ".tar":
                raise BadInput("a bundle is a .tar", f"give --out {version.name}-{version.version}.tar")
            count = export_bundle(place, version, out, show_progress)
        else:
            with open_dataset(given, version.reference) as dataset:
                if form == "manifest":
                    count = exporting.export_manifests(dataset, out, show_progress)
                elif form == "tree":
                    count = exporting.export_tree(dataset, out, show_progress)
                else:
                    count = exporting.export_nemo_slots(dataset, out)
    if as_json:
        typer.echo(msgspec.json.encode({"dataset": version.reference, "hash": version.hash, "written": count}).decode())
    else:
        say(f"{version.reference} written to {out}: {count:,} {'blobs' if form == 'bundle' else 'rows'}")


@contextmanager
def _bar(what: str) -> Iterator[Callable[[int, int], None]]:
    with progress() as bars:
        task = bars.add_task(what, total=None, detail="")
        yield lambda done, total: bars.update(task, completed=done, total=total, detail=f"{done:,} of {total:,}")


def _plain(path: Path) -> str:
    return path.resolve().stem.lower()


def _note(message: str) -> None:
    say(f"[dim]note:[/] {escape(message)}")


def _tell(made: DatasetVersion, as_json: bool, began: float) -> None:
    if as_json:
        typer.echo(msgspec.json.encode(_summary(made)).decode())
        return
    console.print(f"{'dataset':12}{made.reference}")
    _show_counts(made)
    if made.made_at < began:
        say("nothing has changed: this version was there already")


def _show_counts(version: DatasetVersion) -> None:
    console.print(f"{'rows':12}" + "  ".join(f"{split} {version.counts.get(split, 0):,}" for split in SPLITS))
    for reason, count in version.left_out.items():
        console.print(f"{'left out':12}{count:,}: {reason}")


def _summary(version: DatasetVersion) -> dict[str, object]:
    return {
        "name": version.name,
        "version": version.version,
        "parent": version.parent,
        "hash": version.hash,
        "made_at": version.made_at,
        "by": version.by,
        "source": version.source,
        "query": version.query,
        "snapshot": version.snapshot,
        "counts": version.counts,
        "left_out": version.left_out,
        "labels": version.labels,
        "bytes": version.bytes,
        "erasures": version.erasures,
    }
