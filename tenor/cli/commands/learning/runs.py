"""`tenor runs`: what was trained, how it went, and what runs now."""

from __future__ import annotations

import time
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
from rich.live import Live
from rich.markup import escape
from rich.table import Table

from tenor.cli.context import settings, viewer
from tenor.cli.output import console, say
from tenor.cli.params import Json
from tenor.errors import BadInput
from tenor.runtime.profiles import QUIET

if TYPE_CHECKING:
    from storage.runs.runs import Curve, RunView

app = typer.Typer(no_args_is_help=True, help="Training runs: list, watch, compare, stop.")
Number = Annotated[int, typer.Argument(metavar="RUN", help="Number of a run, as `tenor runs list` shows it.")]
BARS = " ▁▂▃▄▅▆▇█"
WIDTH = 40
"""Characters of a curve."""
OVER = ("done", "failed", "stopped", "paused", "died")


@app.command("list")
def list_runs(
    context: typer.Context,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many, newest first.")] = 20,
    as_json: Json = False,
) -> None:
    """Show the newest runs."""
    from storage.db.engine import using
    from storage.runs import runs

    with using(settings(context, unless_set=QUIET)) as database, database.session() as session:
        found = runs.listing(session, limit)
    if as_json:
        for one in found:
            typer.echo(msgspec.json.encode(_document(one)))
        return
    if not found:
        say("no run yet: `tenor finetune DATASET` makes one")
        return
    table = Table(box=None, header_style="dim")
    for name in ("run", "state", "recipe", "dataset", "began", "took", "last figures", "model"):
        table.add_column(name, no_wrap=name != "last figures", overflow="fold")
    for one in found:
        figures = ", ".join(f"{name} {value:.4g}" for name, value in one.last.items())
        began = _when(one.run.started_at)
        cells = (str(one.id), one.state, one.run.recipe, one.run.dataset, began, _took(one), figures, one.run.model)
        table.add_row(*map(escape, cells))
    console.print(table)


@app.command()
def show(context: typer.Context, run: Number, as_json: Json = False) -> None:
    """Show all that is known of a run: parameters, code, environment, resources, curves."""
    found, curves = _read(context, run)
    if as_json:
        typer.echo(msgspec.json.encode({**_document(found), "curves": [_curve(one) for one in curves]}))
        return
    for name, value in _shown(found).items():
        console.print(f"[dim]{name:14}[/] {escape(value)}", soft_wrap=True)
    for curve in curves:
        console.print(
            f"[dim]{curve.name:14}[/] {_drawn(curve.values)}  {curve.values[0]:.4g} to {curve.values[-1]:.4g}"
        )


@app.command()
def watch(context: typer.Context, run: Number) -> None:
    """Follow a run until it is over. Ctrl-C ends the watching, not the run."""
    with Live(console=console, refresh_per_second=2) as live:
        while True:
            found, curves = _read(context, run)
            table = Table(box=None, show_header=False)
            table.add_row("run", f"{found.id} {found.state}, {_took(found)}")
            for curve in curves:
                table.add_row(escape(curve.name), f"{_drawn(curve.values)}  {curve.values[-1]:.4g}")
            live.update(table)
            if found.state in OVER:
                return
            time.sleep(1)


@app.command()
def compare(
    context: typer.Context,
    numbers: Annotated[list[int], typer.Argument(metavar="RUN", help="Two runs or more.")],
    as_json: Json = False,
) -> None:
    """Show runs beside each other: the parameters in which they differ, their last figures, and whether their answers
    on validation are certainly apart from the first run's."""
    from storage.runs import answers, folders, runs

    if len(numbers) < 2:
        raise BadInput("one run cannot be compared", "name two or more")
    found = [_read(context, number)[0] for number in numbers]
    rows: dict[str, list[Any]] = {name: [getattr(one.run, name) for one in found] for name in ("recipe", "dataset")}
    rows |= runs.differing_parameters(found)
    for name in dict.fromkeys(name for one in found for name in one.last):
        rows[name] = [one.last.get(name) for one in found]
    rows["took"] = [_took(one) for one in found]
    chosen = settings(context, unless_set=QUIET)
    kept = {number: answers.read(folders.run_folder(chosen, number)) for number in numbers}
    apart = answers.compare({number: own for number, own in kept.items() if own}) if kept[numbers[0]] else []
    if as_json:
        typer.echo(msgspec.json.encode({"runs": numbers, **rows, "differences": apart}))
        return
    table = Table(box=None, header_style="dim")
    table.add_column("")
    for one in found:
        table.add_column(f"run {one.id}", justify="right")
    for name, values in rows.items():
        table.add_row(escape(name), *(escape(_plain(value)) for value in values))
    console.print(table)
    for difference in apart:
        console.print(escape(difference.text), soft_wrap=True)


@app.command()
def stop(context: typer.Context, run: Number) -> None:
    """Ask a run to stop. It saves a checkpoint first; `tenor finetune --resume` goes on from there."""
    from storage.db.engine import using
    from storage.runs import runs

    with using(settings(context, unless_set=QUIET)) as database:
        say(f"run {run}: {runs.stop(database, viewer(), run)}")


@app.command()
def mirror(
    context: typer.Context,
    numbers: Annotated[
        list[int] | None, typer.Argument(metavar="RUN", help="Runs; without any, all that lack something there.")
    ] = None,
) -> None:
    """Send runs to the MLflow server of learn.mlflow: what it did not get while it was away."""
    from contextlib import closing

    from storage.db.engine import using
    from storage.runs.mlflow_mirror import MlflowMirror

    chosen = settings(context, unless_set=QUIET)
    if not chosen.learn.mlflow:
        raise BadInput("there is no MLflow server to send runs to", "set learn.mlflow to its address")
    with using(chosen) as database, closing(MlflowMirror(database, chosen.learn)) as server:
        for number in numbers or ():
            server.send(number)
        sent = list(numbers) if numbers else server.catch_up()
    say(f"sent run {', '.join(map(str, sent))}" if sent else "nothing was missing")


def _read(context: typer.Context, number: int) -> tuple[RunView, list[Curve]]:
    from storage.db.engine import using
    from storage.runs import runs

    with using(settings(context, unless_set=QUIET)) as database, database.session() as session:
        return runs.find(session, number), runs.curves(session, number)


def _document(found: RunView) -> dict[str, Any]:
    return {"run": found.id, **found.run.model_dump(exclude={"id", "state"}), "state": found.state,
            "seconds": round(found.seconds, 1), "last": dict(found.last)}  # fmt: skip


def _shown(found: RunView) -> dict[str, str]:
    """What people read of it: no moments in seconds since 1970, and nothing that is empty."""
    run = found.run
    first = {"run": str(found.id), "state": found.state, "recipe": run.recipe, "dataset": run.dataset}
    times = {"began": _when(run.started_at), "took": _took(found)}
    known = {*first, "started_at", "ended_at", "seen_at", "seconds"}
    others = {name: _plain(value) for name, value in _document(found).items() if name not in known}
    return {name: value for name, value in (first | times | others).items() if value}


def _when(at: float) -> str:
    return f"{datetime.fromtimestamp(at):%Y-%m-%d %H:%M}"


def _curve(curve: Curve) -> dict[str, Any]:
    return {"name": curve.name, "steps": curve.steps, "values": curve.values}


def _plain(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_plain(one)}" for key, one in value.items())
    if isinstance(value, list):
        return ", ".join(map(_plain, value))
    return "" if value is None else str(value)


def _took(found: RunView) -> str:
    minutes, seconds = divmod(round(found.seconds), 60)
    return f"{minutes}:{seconds:02}"


def _drawn(values: tuple[float, ...]) -> str:
    """A curve in a line of text."""
    step = max(1, -(-len(values) // WIDTH))
    shown = [values[at] for at in range(0, len(values), step)]
    low, high = min(shown), max(shown)
    spread = (high - low) or 1.0
    return "".join(BARS[1 + round((value - low) / spread * (len(BARS) - 2))] for value in shown)
