"""`tenor models`: versions of models, which is in force, and who put it there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
from rich.markup import escape
from rich.table import Table

from tenor.bus.opening import open_bus
from tenor.cli.context import run, settings, viewer
from tenor.cli.output import console, echo, progress, say, warn
from tenor.cli.params import Json
from tenor.errors import BadInput
from tenor.model_store.card import KINDS, Kind
from tenor.model_store.promotion_log import EFFECTIVE_S, Promotion
from tenor.runtime.models import check_model, golden_for, pinned_by, wake_workers
from tenor.runtime.profiles import QUIET
from tenor.runtime.shadow import Ask, ShadowRun, compare_live, open_asking
from tenor.settings import Settings
from tenor.times import parse_since

if TYPE_CHECKING:
    from finetune.gate import PairVerdict, Verdict
    from storage.registry.registry import ModelVersion, Registry

app = typer.Typer(no_args_is_help=True, help="Versions of models: list, promote, roll back, carry to another site.")
ModelName = Annotated[str, typer.Argument(metavar="NAME-N", help="A version, as `tenor models list` shows it.")]
Why = Annotated[str, typer.Option("--why", metavar="REASON", help="For the log and the audit trail.")]
AtOnce = Annotated[
    bool, typer.Option("--at-once", help="Count for calls that go on, too; without it they keep the model they have.")
]


@app.command("list")
def list_models(
    context: typer.Context,
    kind: Annotated[str, typer.Option("--kind", metavar="KIND", help="language, speech or assistant.")] = "",
    as_json: Json = False,
) -> None:
    """Show every version and whether it is in force: champion, previous, candidate or rejected."""
    with _registry(context) as (registry, _):
        found = registry.versions(_kind(kind) if kind else None)
    if as_json:
        for one in found:
            row = {"name": one.name, "version": one.version, "state": one.state, "promoted_at": one.promoted_at}
            typer.echo(msgspec.json.encode(row))
        return
    table = Table(box=None, header_style="dim")
    for name in ("model", "kind", "state", "promoted", "by", "why"):
        table.add_column(name, no_wrap=name != "why", overflow="fold")
    for one in found:
        state = f"[bold green]{one.state}[/]" if one.state == "champion" else one.state
        table.add_row(one.id, one.kind, state, _moment(one.promoted_at), escape(one.by), escape(one.why))
    console.print(table)


@app.command()
def show(context: typer.Context, model: ModelName, as_json: Json = False) -> None:
    """Show all that is known of a version: hash, origin, gate, promotions."""
    with _registry(context) as (registry, _):
        version = registry.version(model)
        promotions = [one for one in registry.log().of(version.kind) if one.model == version.id]
    about = _about(version)
    if as_json:
        typer.echo(msgspec.json.encode({**about, "promotions": msgspec.to_builtins(promotions)}))
        return
    for name, value in about.items():
        console.print(f"[dim]{name:12}[/] {escape(str(value))}", soft_wrap=True)
    for one in promotions:
        why = f": {one.why}" if one.why else ""
        console.print(f"[dim]promoted    [/] {_moment(one.at)} by {escape(one.by)}{escape(why)}", soft_wrap=True)


@app.command()
def promote(
    context: typer.Context,
    model: ModelName,
    why: Why = "",
    force: Annotated[
        bool, typer.Option("--force", help="Promote it although it did not pass the gate; needs --why.")
    ] = False,
    at_once: AtOnce = False,
) -> None:
    """Put a version in force. Workers load it while they work; it counts after ten seconds.

    A call keeps the model with which it began. A candidate must have passed the gate.
    """
    with _registry(context) as (registry, chosen):
        made = registry.promote(
            viewer(), model, why, force=force, at_once=at_once, check=lambda one: _check(registry, one, chosen)
        )
    _tell(chosen, made)


@app.command()
def rollback(
    context: typer.Context,
    kind: Annotated[
        str, typer.Argument(metavar="KIND", help="language, speech or assistant (default: what was promoted last).")
    ] = "",
    why: Why = "",
    at_once: AtOnce = False,
) -> None:
    """Promote the predecessor again. Past calls keep their answers.

    `tenor analyze --store --again` analyzes recordings of them anew.
    """
    with _registry(context) as (registry, chosen):
        log = registry.log().promotions
        if not kind and not log:
            raise BadInput("nothing was ever promoted here: there is nothing to go back to")
        made = registry.rollback(viewer(), _kind(kind) if kind else log[-1].kind, why, at_once=at_once)
    _tell(chosen, made)


@app.command()
def shadow(
    context: typer.Context,
    model: ModelName,
    since: Annotated[
        str, typer.Option("--since", metavar="TIME", help="How far back stored sentences are read: 2026-11-01, or 8w.")
    ] = "1d",
    live: Annotated[
        float,
        typer.Option("--live", metavar="MINUTES", help="Read calls that go on, for so long, instead of stored ones."),
    ] = 0.0,
    most: Annotated[int, typer.Option("--most", min=1, help="At most this many sentences.")] = 5000,
    shown: Annotated[int, typer.Option("--show", min=0, help="How many changed answers to show.")] = 20,
    as_json: Json = False,
) -> None:
    """Count which answers a version would change, on the sentences of the last day; nothing on the pages changes.

    Both models read the same sentences. Only counts are kept, for `tenor models lineage`.
    """
    from tenor.learn.shadowing import record_shadow, shadow_kept

    oldest = parse_since(since)
    with _registry(context) as (registry, chosen):
        version = registry.version(model)
        champion = registry.champion(version.kind)
        if champion.id == version.id:
            raise BadInput(f"{version.id} is in force: there is nothing to compare it with")
        if live:
            if version.kind != "language":
                raise BadInput("only language models are compared on calls that go on", "leave out --live")
            found = ShadowRun(shown)
            candidate = open_asking(version.kind, registry.path(version), chosen)
            try:
                run(_live(chosen, candidate, live * 60, found))
            except typer.Exit:
                say("stopped; what was heard so far counts")
            record_shadow(registry, viewer(), version, champion, found, live=True)
        else:
            with progress() as bar:
                task = bar.add_task("comparing", total=None, detail="")
                found = shadow_kept(
                    chosen, registry, viewer(), version, champion, since=oldest, most=most, shown=shown,
                    progress=lambda done, total: bar.update(task, completed=done, total=total),
                )  # fmt: skip
    _show_shadow(version.id, champion.id, found, as_json=as_json)


@app.command()
def gate(
    context: typer.Context,
    model: ModelName,
    dataset: Annotated[
        str, typer.Option("--dataset", metavar="NAME@N", help="Whose hold-out judges (default: what it learned from).")
    ] = "",
    against: Annotated[str, typer.Option("--against", metavar="NAME-N", help="Default: what is in force.")] = "",
    other: Annotated[
        str,
        typer.Option(
            "--with",
            metavar="NAME-N",
            help="A recogniser beside a language model: both are judged, alone and together.",
        ),
    ] = "",
    terms: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Business terms, one per line, for a recogniser (default: speech.boosted)."),
    ] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE.svg", help="Also write the figures as a picture.")] = None,
    as_json: Json = False,
) -> None:
    """Judge a candidate by people's labels: is it certainly better than the model in force?

    Exits with 1 if it is not, or if there are too few labels to tell. The report is kept with the model. With --with,
    a recogniser and a language model pass together or not at all, and the four pairs of old and new models say which of
    the two earned it.
    """
    from nlp.evaluation.terms import read_terms
    from storage.db.engine import using
    from tenor.learn import judge_model, judge_together

    if plot and plot.suffix.lower() != ".svg":
        raise BadInput(f"the picture is an SVG, and {plot.name} is not called so", "--plot gate.svg")
    if other and against:
        raise BadInput("--with judges against the models in force", "leave --against out")
    expected = read_terms(terms) if terms else ()
    chosen = settings(context, unless_set=QUIET)
    verdict: Verdict | PairVerdict
    with using(chosen) as database, progress() as bars:
        bar = bars.add_task("asking both models", total=None, detail="")

        def show(_: str, done: int, total: int) -> None:
            bars.update(bar, completed=done, total=total)

        if other:
            both = (model, other)
            verdict = judge_together(chosen, database, viewer(), both, dataset, terms=expected, progress=show)
        else:
            verdict = judge_model(
                chosen, database, viewer(), model, dataset, against=against, terms=expected, progress=show
            )
    if as_json:
        typer.echo(msgspec.json.encode(verdict.document()))
    else:
        echo("\n".join(verdict.lines()))
    if plot:
        _write_plot(plot, verdict)
    if not verdict.passed:
        raise typer.Exit(1)


def _write_plot(file: Path, verdict: Verdict | PairVerdict) -> None:
    from finetune.gate.picture import gate_svg

    try:
        file.write_text(gate_svg(*verdict.pictured()), encoding="utf-8")
    except OSError as error:
        raise BadInput(f"cannot write {file}: {error.strerror}", "give a file in a folder that is there") from None
    say(f"{escape(str(file))} is written")


@app.command()
def lineage(
    context: typer.Context,
    model: Annotated[str, typer.Argument(metavar="NAME-N", help="A version; else all that came of --author.")] = "",
    author: Annotated[str, typer.Option("--author", metavar="NAME", help="Whose labels went into what.")] = "",
    as_json: Json = False,
) -> None:
    """Show where a model comes from and what it did: labels, snapshot, dataset, run, gate, promotions, sentences."""
    from storage.archive.sealing.place import ArchivePlace
    from storage.registry import lineage as tracing

    if bool(model) == bool(author):
        raise BadInput("name a version, or a labeller with --author", "tenor models lineage house-7")
    with _registry(context) as (registry, chosen):
        if author:
            steps = tracing.of_author(registry, author, ArchivePlace(chosen))
        else:
            steps = tracing.of_model(registry, registry.version(model))
    for step in steps:
        if as_json:
            typer.echo(msgspec.json.encode(step))
        else:
            console.print(f"{'  ' * step.depth}[dim]{step.what:10}[/] {escape(step.text)}", soft_wrap=True)


@app.command("export")
def export_model(
    context: typer.Context,
    model: ModelName,
    to: Annotated[Path, typer.Option("--to", metavar="PATH", help="File or folder (default: here).")] = Path("."),
) -> None:
    """Write a version as one file, for another site: the same bytes there, so the same hash."""
    from storage.registry.bundles import export_bundle

    with _registry(context) as (registry, _):
        version = registry.version(model)
        written = export_bundle(registry, version, to)
    say(f"{version.id} ({version.sha256[:8]}) is in {escape(str(written))}")


@app.command("import")
def import_model(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A bundle (.zip) or a model's folder.")],
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="Make it the next version of this name.")] = "",
    kind: Annotated[str, typer.Option("--kind", metavar="KIND", help="language, speech or assistant.")] = "",
    why: Why = "",
) -> None:
    """Register a bundle or a model's folder as a candidate. A bundle keeps its name, number and hash."""
    from storage.registry import folders
    from storage.registry.bundles import import_bundle

    with _registry(context) as (registry, chosen):
        if path.is_dir():
            card = folders.known_card(path)
            given = name or (card.name if card is not None else "")
            if not given:
                raise BadInput(f"{path} does not say what it is called", "name it with --name")
            known = _kind(kind) if kind else folders.kind_of(path, card)
            check_model(known, path, chosen.riva)
            golden = golden_for(known, path)
            version = registry.add(viewer(), path, name=given, kind=known, why=why, golden=golden)
        else:
            version = import_bundle(registry, viewer(), path, name=name, why=why)
            _check(registry, version, chosen)
    say(f"{version.id} ({version.sha256[:8]}) is a {version.kind} model and {version.state}")


@contextmanager
def _registry(context: typer.Context) -> Iterator[tuple[Registry, Settings]]:
    from storage.db.engine import using
    from storage.registry.registry import Registry

    chosen = settings(context, unless_set=QUIET)
    with using(chosen) as database:
        yield Registry(database, chosen.models_folder), chosen


def _kind(text: str) -> Kind:
    for kind in KINDS:
        if text == kind:
            return kind
    raise BadInput(f"{text!r} is no kind of model", f"one of {', '.join(KINDS)}")


def _check(registry: Registry, version: ModelVersion, chosen: Settings) -> None:
    if not version.ships:
        check_model(version.kind, registry.path(version), chosen.riva)


def _tell(chosen: Settings, made: Promotion) -> None:
    if setting := pinned_by(chosen, made.kind):
        warn(f"{setting} is set: where it is, that model is used and not {made.model}")
    run(wake_workers(chosen, made))
    calls = "for calls that go on, too" if made.at_once else "for calls that begin then"
    say(f"{made.model} replaces {made.previous} in {EFFECTIVE_S:g} seconds, {calls}")


async def _live(chosen: Settings, candidate: Ask, seconds: float, found: ShadowRun) -> None:
    async with open_bus(chosen) as bus:
        await compare_live(bus, candidate, seconds=seconds, run=found)


def _show_shadow(model: str, against: str, found: ShadowRun, *, as_json: bool) -> None:
    if as_json:
        about = {"model": model, "against": against, "sentences": found.sentences, "changed": found.changed}
        typer.echo(msgspec.json.encode({**about, "counts": found.counted()}))
        return
    say(f"{model} would change {100 * found.share:.1f} % of {found.sentences} sentences that {against} answered")
    for head, changes in found.counted().items():
        for change, times in list(changes.items())[:10]:
            console.print(f"[dim]{head:10}[/] {times:6}  {escape(change)}", soft_wrap=True)
    for one in found.examples:
        console.print(
            f"[dim]{one.head:10}[/] {escape(one.before)} > {escape(one.after)}: {escape(one.text)}", soft_wrap=True
        )


def _about(version: ModelVersion) -> dict[str, Any]:
    row = version.row
    about: dict[str, Any] = {
        "model": version.id,
        "kind": version.kind,
        "state": version.state,
        **({"sha256": version.sha256} if version.sha256 else {"from": "ships with Tenor"}),
    }
    if row is not None:
        origin = {"parent": row.parent, "run": row.run, "dataset": row.dataset, "snapshot": row.snapshot}
        about |= {name: value for name, value in origin.items() if value}
        about |= {"registered": f"{_moment(row.at)} by {row.by or 'nobody'}: {row.why}".rstrip(": ")}
    gate = version.gate
    about["gate"] = "not asked yet" if gate is None else f"{'passed' if gate.passed else 'not passed'}: {gate.verdict}"
    return about


def _moment(at: float | None) -> str:
    return f"{datetime.fromtimestamp(at):%Y-%m-%d %H:%M:%S}" if at else ""
