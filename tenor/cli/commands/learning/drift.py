"""`tenor drift`: whether what is said, or what it means, is still what the model learned."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from rich.markup import escape
from rich.table import Table

from tenor.cli.context import settings
from tenor.cli.output import console, progress, say
from tenor.cli.params import Json
from tenor.errors import BadInput
from tenor.runtime.profiles import QUIET
from tenor.times import parse_since

if TYPE_CHECKING:
    from sqlmodel import Session

    from storage.drift.measures import Measure, Scope
    from storage.drift.queries import DriftAlarm, DriftPoint
    from storage.tables import DriftTest

MOST_LABELS = 5
"""Lines of a chart, and labels of a measure in the table; those that are an alarm always."""


def drift(
    context: typer.Context,
    since: Annotated[str, typer.Option("--since", metavar="TIME", help="How far back: 2026-11-01, or 8w.")] = "60d",
    queue: Annotated[
        str, typer.Option("--queue", metavar="NAME", help="Only this queue, instead of all of them.")
    ] = "",
    site: Annotated[str, typer.Option("--site", metavar="NAME", help="Only this site.")] = "",
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE.svg", help="Also draw the days into this file.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare every day that is over with the first weeks of the model in force.

    Data drift: other shares of sentiments and intents, unknown words, a model or a recogniser that is less sure.
    Concept drift: labels of random sentences say that the model is right less often than when the gate let it pass.
    A difference is an alarm if it is certain (p < .001, calls as clusters) on two days running.
    Exits with 1 if there is an alarm on the newest day; `tenor learn` is what to do about it.
    """
    from storage.db.engine import using
    from storage.drift import queries
    from storage.drift.watching import bring_up_to_date
    from storage.viewer import HOUSE

    if queue and site:
        raise BadInput("--queue and --site are two views of the same calls", "leave one of them out")
    if plot is not None and plot.suffix != ".svg":
        raise BadInput(f"--plot {plot}: the picture is an SVG", "name a file that ends in .svg")
    scope: Scope = "queue" if queue else "site" if site else "house"
    first = time.strftime("%Y-%m-%d", time.gmtime(parse_since(since)))
    given = settings(context, unless_set=QUIET)
    with using(given) as database:
        with progress() as bars:
            task = bars.add_task("drift", total=None, detail="")
            update = bring_up_to_date(
                database,
                given,
                progress=lambda done, total, day: bars.update(task, completed=done, total=total, detail=day),
            )
        with database.session() as session:
            name = queue or site
            known = queries.groups(session, HOUSE, scope)
            if name not in known and scope != "house":
                there = f"there are: {', '.join(known)}" if known else f"no call that is over names a {scope}"
                raise BadInput(f"there is no {scope} {name} with calls that are over", there)
            newest = queries.last_day(session, HOUSE)
            tests = queries.results(session, HOUSE, since=first, scope=scope, name=name)
            alarms = [one for one in queries.alarms(session, HOUSE, first) if scope in ("house", one.scope)]
            alarms = [one for one in alarms if scope == "house" or one.name == name]
            charts = _charts(session, scope, name, first)
    today = [one for one in tests if one.day == newest]
    now = [one for one in alarms if one.last == newest]
    if as_json:
        document = {
            "day": newest, "scope": scope, "name": name, "alarms": alarms,
            "tests": [one.model_dump(exclude={"id"}) for one in today], "series": charts,
        }  # fmt: skip
        typer.echo(msgspec.json.encode(document))
    elif not today:
        days = f"{update.days} days were measured" if update.days else "no call is over yet"
        console.print(f"nothing to compare: {days}, and it takes two weeks of one model", soft_wrap=True)
    else:
        _show(newest, name, today, alarms)
    if plot is not None:
        _draw(plot, name, charts, tests)
    if now:
        if not as_json:
            say("`tenor learn` trains with what people labelled since, and judges whether that is better")
        raise typer.Exit(1)


def _charts(session: Session, scope: Scope, name: str, since: str) -> dict[Measure, dict[str, list[DriftPoint]]]:
    from storage.drift import queries
    from storage.drift.measures import MEASURES
    from storage.viewer import HOUSE

    found = {
        measure: queries.series(session, HOUSE, measure, scope=scope, name=name, since=since) for measure in MEASURES
    }
    return {measure: lines for measure, lines in found.items() if lines}


def _show(newest: str, name: str, today: list[DriftTest], alarms: list[DriftAlarm]) -> None:
    from storage.drift.measures import MEASURES

    table = Table(
        box=None, pad_edge=False, title=f"{newest}{f', {escape(name)}' if name else ''}", title_justify="left"
    )
    for column in ("", "", "usual", "now", "p", ""):
        table.add_column(column, justify="right" if column else "left")
    for measure in MEASURES:
        own = sorted((one for one in today if one.measure == measure), key=lambda one: -one.before)
        shown = [one for number, one in enumerate(own) if number < MOST_LABELS or one.alarm]
        for one in shown:
            told = "[bold red]alarm[/]" if one.alarm else ""
            against = " [dim](gate)[/]" if one.against == "gate" else ""
            p = min(one.corrected, one.together)
            table.add_row(
                measure,
                escape(one.value),
                f"{one.before:.1%}{against}",
                f"{one.now:.1%}",
                _probability(p).removeprefix("= "),
                told,
            )
    console.print(table)
    for alarm in alarms:
        where = f"{alarm.scope} {alarm.name}: " if alarm.name else ""
        what = f"{alarm.measure} {alarm.value}".strip()
        span = alarm.first if alarm.first == alarm.last else f"{alarm.first} to {alarm.last}"
        console.print(
            f"[bold red]{alarm.kind} drift[/] {escape(where)}{escape(what)} {alarm.before:.1%} -> {alarm.now:.1%}, "
            f"p {_probability(alarm.p)}  [dim]{span}[/]",
            soft_wrap=True,
        )  # fmt: skip
    if not alarms:
        console.print("no drift")


def _probability(p: float) -> str:
    return "< .000001" if p < 1e-6 else f"= {p:.2g}"


def _draw(plot: Path, name: str, charts: dict[Measure, dict[str, list[DriftPoint]]], tests: list[DriftTest]) -> None:
    from storage.drift.picture import drift_svg

    if not charts:
        raise BadInput("there is nothing to draw yet", "calls that are over are measured on the next day")
    few = {measure: dict(list(lines.items())[:MOST_LABELS]) for measure, lines in charts.items()}
    try:
        plot.write_text(drift_svg(f"Drift{f' of {name}' if name else ''}", few, tests), "utf-8")
    except OSError as error:
        raise BadInput(f"--plot {plot} cannot be written: {error.strerror}") from None
    say(f"picture: {escape(str(plot))}")
