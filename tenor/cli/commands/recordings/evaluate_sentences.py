"""`tenor evaluate sentences`: how often the language model is right about sentences that people labelled."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from tenor.cli.context import settings
from tenor.cli.output import complain, console, progress, say, warn, writable_folder
from tenor.cli.params import Json
from tenor.runtime.profiles import EVERY_CORE

if TYPE_CHECKING:
    from nlp.evaluation.sentence_set import Answered, GroupFigures, SentenceSetReport

COLUMNS = {
    "sentiment macro-F1": "macro-F1",
    "sentiment accuracy": "sentiment",
    "intent accuracy": "intent",
    "answered with an intent": "answered",
}
"""Figures in the table, and their headings; --json has all."""


def sentences(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help='Lines of {"text", "sentiment", "intent", "also", "role", "before", "medium", "tags", "call"},'
            " or CSV with these columns; .gz too.",
        ),
    ],
    model: Annotated[Path | None, typer.Option(metavar="FOLDER", help="The model to measure (default: ours).")] = None,
    worst: Annotated[int, typer.Option(min=0, metavar="COUNT", help="So many of the worst mistakes are shown.")] = 20,
    as_json: Json = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Also write the report, the picture and every sentence here, worst first."),
    ] = None,
) -> None:
    """How often the model is right about sentences of your own that people labelled.

    By role, medium and tag, with 95 % confidence intervals, and the worst mistakes first. A sentence needs a text and a
    sentiment or an intent; an intent is right if it is the one named or one of `also`. Intervals come from drawing
    whole calls where the set names them. A line that cannot be read is told, the rest is measured, and the command
    exits with 2.
    """
    from nlp.evaluation import sentence_set
    from nlp.inference.backend import open_backend

    if out:
        writable_folder(out, "--out")
    rows, faults = sentence_set.read_sentences(file)
    for fault in faults:
        complain(f"{file}, line {fault.line}: {fault.error}")
    backend = open_backend(settings(context, unless_set=EVERY_CORE, language__model=model and str(model)))
    with progress() as bars:
        task = bars.add_task("asking the model", total=None, detail="")
        report = sentence_set.measure(backend, rows, lambda done, total: bars.update(task, completed=done, total=total))
    if as_json:
        typer.echo(json.dumps(report.document(worst), ensure_ascii=False))
    else:
        _show(report, worst)
    if out:
        _write(out, report, worst)
        say(f"report, picture and sentences are in {escape(str(out))}")
    if faults:
        raise typer.Exit(2)


def _show(report: SentenceSetReport, worst: int) -> None:
    models = ", ".join(sorted(set(report.models.values())))
    console.print(f"{len(report.answered):,} sentences, {escape(models)}; percent, with 95 % intervals")
    for heading, groups in {"told": report.told, **report.groups}.items():
        console.print()
        console.print(_table(f"[bold]{heading}[/]", groups))
    console.print()
    if report.strange:
        names = ", ".join(f"{name} ({count})" for name, count in sorted(report.strange.items()))
        warn(f"labels that this model does not have, so it is wrong about them: {names}")
    wrong = report.wrong[:worst]
    if wrong:
        console.print(f"[bold]the worst {len(wrong)} of {len(report.wrong):,} with a mistake[/]")
    for one in wrong:
        _show_mistake(one)


def _table(heading: str, groups: list[GroupFigures]) -> Table:
    columns = [name for name in COLUMNS if any(name in group.figures for group in groups)]
    table = Table(box=None, pad_edge=False)
    table.add_column(heading, no_wrap=True)
    table.add_column("", justify="right", no_wrap=True)
    for name in columns:
        table.add_column(COLUMNS[name], justify="right", no_wrap=True)
    for group in groups:
        table.add_row(escape(group.name), f"{group.sentences:,}", *(_cell(group, name) for name in columns))
    return table


def _cell(group: GroupFigures, name: str) -> str:
    if (figure := group.figures.get(name)) is None:
        return "-"
    value, low, high = (100 * one for one in (figure.value, figure.low, figure.high))
    return f"{value:.1f}" if math.isnan(low) else f"{value:.1f} [dim]({low:.0f}-{high:.0f})[/]"


def _show_mistake(one: Answered) -> None:
    wanted, got = one.wanted, one.got
    said = f"[dim]{escape(wanted.before)} /[/] " if wanted.before else ""
    console.print(f"{one.wrong_by:.2f}  {escape(wanted.role or '-')}: {said}{escape(wanted.text)}", soft_wrap=True)
    if wanted.sentiment and got.sentiment != wanted.sentiment:
        console.print(f"      sentiment {escape(got.sentiment)}, people say {escape(wanted.sentiment)}")
    if wanted.intent and not one.intent_right:
        console.print(f"      intent {escape(got.intent)}, people say {escape(', '.join(wanted.accepted))}")


def _write(folder: Path, report: SentenceSetReport, worst: int) -> None:
    from nlp.evaluation.picture import confusion_svg

    document = report.document(worst)
    (folder / "report.json").write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", "utf-8")
    lines = (json.dumps(one.document(), ensure_ascii=False) + "\n" for one in report.answered)
    (folder / "sentences.jsonl").write_text("".join(lines), "utf-8")
    if (counts := report.confusion) is not None:
        picture = confusion_svg(counts.matrix, counts.labels, "Sentiment", "what people say", "what the model says")
        (folder / "confusion.svg").write_text(picture, "utf-8")
