"""`tenor labels`: what people said of sentences and turns, who said it, and how far it can be trusted."""

from __future__ import annotations

import sys
import time
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
from rich.markup import escape
from rich.table import Table

from tenor.cli.context import settings, user_name
from tenor.cli.output import console, progress, say, warn
from tenor.errors import BadInput
from tenor.runtime.profiles import QUIET
from tenor.times import parse_since

if TYPE_CHECKING:
    from storage.viewer import Viewer

app = typer.Typer(no_args_is_help=True, help="What people said of sentences, and how far it can be trusted.")
SHOWN = 20
"""Wrong rows that are told one by one."""
AS_JSON = typer.Option(False, "--json", help="One JSON object per line.")
KIND = typer.Option("", "--kind", metavar="sentiment|intent|slots|text|role", help="Only labels of this kind.")
AUTHOR = typer.Option("", "--author", metavar="NAME", help="Only this person's labels.")
SINCE = typer.Option("", "--since", metavar="TIME", help="Only labels of this time or later: 2026-11-01, or 8w ago.")


@app.command("list")
def list_labels(
    context: typer.Context,
    kind: str = KIND,
    author: str = AUTHOR,
    since: str = SINCE,
    held: bool = typer.Option(False, "--held", help="Only labels that wait for a decision."),
    as_json: bool = AS_JSON,
) -> None:
    """Show labels, oldest first."""
    from storage.db.engine import using
    from storage.labels.files.export import labels_of, told
    from storage.viewer import HOUSE

    table = Table("when", "author", "kind", "value", "model said", "why", "words", box=None, header_style="dim")
    number = 0
    with using(settings(context, unless_set=QUIET)) as database, database.session() as session:
        wanted: dict[str, Any] = {"kind": kind, "author": author, "since": parse_since(since)}
        for one in labels_of(session, HOUSE, **wanted, held=True if held else None):
            number += 1
            if as_json:
                typer.echo(msgspec.json.encode(told(one)))
                continue
            label = one.label
            when = datetime.fromtimestamp(label.at).strftime("%Y-%m-%d %H:%M")
            cells = (when, label.author, label.kind, label.value, label.predicted, label.why, one.text)
            table.add_row(*(escape(cell[:60]) for cell in cells))
    if not as_json and number:
        console.print(table)
    elif not as_json:
        say("no labels: people make them on Review and on a call's page, or `tenor labels import` brings them in")


@app.command()
def authors(context: typer.Context, as_json: bool = AS_JSON) -> None:
    """Show who labels, how much, how fast, how far others agree, and whose labels are held."""
    from storage.db.engine import using
    from storage.labels.trust.author_report import author_report

    given = settings(context, unless_set=QUIET)
    with using(given) as database, database.session() as session:
        found = author_report(session, given.learn.experts)
    if as_json:
        for one in found:
            typer.echo(msgspec.json.encode(one))
        return
    if not found:
        say("nobody has made a label yet")
        return
    titles = ("author", "kind", "labels", "changed", "median s", "kappa", "controls", "held")
    table = Table(*titles, box=None, header_style="dim")
    for one in found:
        kappa = f"{one.kappa:.2f} ± {one.kappa_margin:.2f}" if one.kappa is not None else ""
        seconds = f"{one.seconds:.1f}" if one.seconds is not None else ""
        controls = f"{one.controls_right} of {one.controls}" if one.controls else ""
        cells = (one.author, one.kind, str(one.labels), f"{one.changed:.0%}", seconds, kappa, controls, one.held)
        table.add_row(*map(escape, cells))
    console.print(table)


@app.command()
def check(
    context: typer.Context,
    hold: bool = typer.Option(True, "--hold/--no-hold", help="Hold the labels of those who are found."),
    workers: int = typer.Option(1, "--workers", min=1, max=64, help="Processes that compare labels of the same words."),
    as_json: bool = typer.Option(False, "--json", help="One JSON object."),
) -> None:
    """Find people whose labels are unlike everyone else's, labels that contradict each other, and a skewed sample.

    The labels of the people who are found are held (unless you say --no-hold): they count nowhere until
    `tenor labels release`. Exits with 1 if somebody was found.
    """
    from storage.db.engine import using
    from storage.labels.trust import checks
    from storage.labels.trust.contradictions import find_contradictions, labelled_words
    from storage.labels.trust.sample_report import sample_report
    from storage.viewer import HOUSE

    given = settings(context, unless_set=QUIET)
    with using(given) as database:
        with database.begin() as session:
            found = (checks.hold_suspects if hold else checks.suspicions)(session, given.learn.experts)
        with database.session() as session:
            words = labelled_words(session)
            contradictions = find_contradictions(words, workers)
            report = sample_report(session, HOUSE)
    if as_json:
        typer.echo(
            msgspec.json.encode({"suspects": found, "held": hold, "contradictions": contradictions, "sample": report})
        )
    else:
        for one in found:
            warn(f"{one.author} labels {one.kind} unlike everyone else: {one.reason}{' (held)' if hold else ''}")
        for two in contradictions[:SHOWN]:
            values = ", ".join(f"{value} ({len(items)})" for value, items in two.values.items())
            console.print(f"{escape(two.kind)}: [b]{escape(two.words[:80])}[/]: {escape(values)}", soft_wrap=True)
        if len(contradictions) > SHOWN:
            console.print(f"and {len(contradictions) - SHOWN} more contradictions")
        for dimension in report:
            if dimension.skewed:
                warn(str(dimension))
        say(f"{len(words)} labels, {len(contradictions)} contradictions, {len(found)} people to ask")
    if found:
        raise typer.Exit(1)


@app.command("hold")
def hold_labels(
    context: typer.Context,
    author: Annotated[str, typer.Argument(metavar="AUTHOR", help="Whose labels.")],
    reason: Annotated[str, typer.Option("--reason", "-r", metavar="TEXT", help="Why, for those who decide.")] = "",
) -> None:
    """Hold a person's labels: they count nowhere, also those made from now on, until they are released."""
    from storage.db.engine import using
    from storage.labels.trust import holds

    with using(settings(context, unless_set=QUIET)) as database, database.begin() as session:
        if holds.is_held(session, author):
            raise BadInput(f"the labels of {author!r} are held already", "`tenor labels release` lets them count again")
        number = holds.hold(session, author, reason or "held on the command line", _viewer())
    say(f"{number} labels of {escape(author)} are held")


@app.command()
def release(
    context: typer.Context, author: Annotated[str, typer.Argument(metavar="AUTHOR", help="Whose labels.")]
) -> None:
    """Let a person's labels count again. The check then goes by what they say afterwards."""
    from storage.db.engine import using
    from storage.labels.trust import holds

    with using(settings(context, unless_set=QUIET)) as database, database.begin() as session:
        number = holds.release(session, author, _viewer())
    say(f"{number} labels of {escape(author)} count again")


@app.command("export")
def export_labels(
    context: typer.Context,
    form: Annotated[
        str, typer.Option("--format", "-f", metavar="csv|jsonl|label-studio", help="A table, JSON lines, or tasks.")
    ] = "csv",
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="File, or - .")] = "-",
    kind: str = KIND,
    author: str = AUTHOR,
    since: str = SINCE,
) -> None:
    """Write labels with the words that they are about."""
    from storage.db.engine import using
    from storage.labels.files.export import LABEL_FORMATS, labels_of, written
    from storage.tables import Audit
    from storage.transfer.exporter import put
    from storage.viewer import HOUSE

    if form not in LABEL_FORMATS:
        raise BadInput(f"{form!r} is no format", f"one of {', '.join(LABEL_FORMATS)}")
    with using(settings(context, unless_set=QUIET)) as database:
        with database.session() as session:
            found = list(labels_of(session, HOUSE, kind=kind, author=author, since=parse_since(since)))
            content = written(found, form)
        with database.begin() as session:
            detail = {"format": form, "labels": len(found)}
            session.add(Audit(at=time.time(), who=user_name(), action="labels.exported", detail=detail))
    if out == "-":
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    else:
        put(Path(out), content)
        say(f"{len(found)} labels written to {escape(out)}")


@app.command("import")
def import_labels(
    context: typer.Context,
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="CSV, JSONL, Label Studio's JSON, NeMo's .tsv or folder.")
    ],
    author: Annotated[
        str, typer.Option("--author", metavar="NAME", help="Whose labels they are, where the file does not say.")
    ] = "",
) -> None:
    """Bring in labels. Doing it again changes nothing.

    CSV and JSONL name a sentence, a turn, or just a text, and say its sentiment, intent or slots. Words alone become
    calls of their own, after redaction. A wrong row is reported with its place, the others are taken, and the command
    exits with 1.
    """
    from storage.db.engine import using
    from storage.labels.allowed import allowed_names
    from storage.labels.files.bring_in import bring_in
    from storage.labels.files.formats import read_labels
    from storage.tables import Audit
    from tenor.model_store.store import language_in_force
    from tenor.runtime.label_texts import LabelTextReader

    given = settings(context, unless_set=QUIET)
    counts: Counter[str] = Counter()
    for path in files:
        if not path.exists():
            raise BadInput(f"no such file: {path}")
    with using(given) as database, progress() as bar:
        task = bar.add_task("importing", total=None, detail="")
        with database.session() as session:
            names = allowed_names(session, language_in_force(given))
        told, reader = 0, LabelTextReader(given)
        for path in files:
            rows, who = read_labels(path), user_name()
            for done in bring_in(database, rows, by=who, names=names, reader=reader, author=author):
                counts.update(done.labels)
                for wrong in done.wrong:
                    told += 1
                    if told <= SHOWN:
                        warn(f"{wrong.place}: {wrong.reason}")
                bar.update(task, advance=1, detail=f"{counts['imported']} labels")
        with database.begin() as session:
            detail = {"labels": counts["imported"]}
            session.add(Audit(at=time.time(), who=user_name(), action="labels.imported", detail=detail))
    if told > SHOWN:
        warn(f"and {told - SHOWN} more")
    shown = {"imported": "imported", "unchanged": "here already", "refused": "refused"}
    console.print(", ".join(f"{counts[name]} {words}" for name, words in shown.items() if counts[name]) or "no labels")
    if counts["refused"]:
        raise typer.Exit(1)


def _viewer() -> Viewer:
    from storage.viewer import Viewer

    return Viewer(user_name(), "administrator")
