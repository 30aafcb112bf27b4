"""`tenor scorecard`: look over the form of scorecards, and fill it in for calls of the past."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from tenor.cli.context import settings, user_name
from tenor.cli.output import clock, console, progress, report_faults, say
from tenor.errors import BadInput
from tenor.times import parse_since

if TYPE_CHECKING:
    from nlp.scorecard import ScoreForm
    from storage.db.engine import Database
    from tenor.events import ScorePoint
    from tenor.settings import Settings

app = typer.Typer(help="Scorecards of calls: check a form, fill it in for past calls.", no_args_is_help=True)

EXAMPLES = 3
File = Annotated[Path | None, typer.Argument(metavar="FILE", help="Default: the form in force.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def check(context: typer.Context, file: File = None, as_json: AsJson = False) -> None:
    """Find every mistake in a form, with line and column. Exits with 2 when there is one."""
    from nlp.scorecard import DEFAULT, form_in_force

    given = settings(context)

    def found() -> str:
        count = len(form_in_force(given, file))
        return f"{count} point{'' if count == 1 else 's'}"

    report_faults(file or Path(given.language.scorecard or DEFAULT), found, as_json=as_json)


@app.command()
def replay(
    context: typer.Context,
    file: File = None,
    since: Annotated[str, typer.Option("--since", metavar="TIME", help="How far back: 2026-11-01, or 8w.")] = "30d",
    call: Annotated[str, typer.Option("--call", metavar="ID", help="Only this call.")] = "",
    apply: Annotated[bool, typer.Option("--apply", help="Keep what was filled in.")] = False,
    as_json: AsJson = False,
) -> None:
    """Fill in scorecards of past calls: how often each point is done, and which sentences prove it.

    Nothing is changed without --apply. With it, the cards take the place of what was filled in before. What people
    confirmed stays, and what nobody has confirmed counts nowhere.
    """
    from nlp.scorecard import form_in_force
    from storage.db.engine import using
    from storage.scorecards.filling import keep

    given = settings(context)
    form = form_in_force(given, file)
    if not form:
        raise BadInput("there is no form: language.scorecard is off", "name a file: `tenor scorecard replay FILE`")
    oldest = 0.0 if call else parse_since(since)
    changed: int | None = None
    with using(given) as database:
        cards = _fill(database, given, form, oldest, call)
        if apply:
            name = Path(file or given.language.scorecard or "scorecard.yaml").name
            with database.begin() as session:
                changed = keep(session, cards, user_name(), name)
    if as_json:
        counts = {point.name: dict(_counts(cards, point.name)) for point in form.points}
        typer.echo(json.dumps({"calls": len(cards), "points": counts, "changed": changed}, ensure_ascii=False))
    else:
        _show(form, cards, changed)


def _fill(
    database: Database, given: Settings, form: ScoreForm, since: float, call: str
) -> dict[str, tuple[ScorePoint, ...]]:
    from nlp import rules
    from nlp.rules.known_names import known
    from nlp.rules.replay import watch_again
    from storage.queries.replay import ids, past_calls
    from storage.viewer import HOUSE
    from tenor.model_store.store import language_in_force
    from tenor.taxonomy.in_force import intents_in_force

    ruleset = rules.read(Path(given.language.rules) if given.language.rules else None, known(given))
    tasks = intents_in_force(language_in_force(given)).tasks
    with database.session() as session:
        calls = ids(session, HOUSE, since=since, call=call)
    if call and not calls:
        raise BadInput(f"there is no call {call!r} that is over")
    cards = {}
    with progress() as bar:
        task = bar.add_task("filling in", total=len(calls), detail=f"{len(calls)} calls")
        for past in past_calls(database, HOUSE, calls):
            conditions = [*form.conditions()]
            _, history = watch_again(ruleset, past.id, past.info, past.sentences, past.end_ms, tasks, conditions)
            cards[past.id] = form.fill(history, past.info)
            bar.advance(task)
    return cards


def _counts(cards: dict[str, tuple[ScorePoint, ...]], name: str) -> Counter[str]:
    return Counter(point.value for card in cards.values() for point in card if point.point == name)


def _show(form: ScoreForm, cards: dict[str, tuple[ScorePoint, ...]], changed: int | None) -> None:
    say(f"{len(cards)} calls")
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("point")
    for title in ("done", "not done", "not asked for"):
        table.add_column(title, justify="right")
    for point in form.points:
        counts = _counts(cards, point.name)
        table.add_row(escape(point.name), *(str(counts[value] or "-") for value in ("yes", "no", "not_due")))
    console.print(table)
    for point in form.points:
        wanted = (point.name, "no")
        missed = [(call, one) for call, card in cards.items() for one in card if (one.point, one.value) == wanted]
        for call, one in missed[:EXAMPLES]:
            line = f"not done: {point.name}  {call}" + (f" {clock(one.at_ms)}" if one.sentence else "")
            console.print(line, markup=False, soft_wrap=True, style="dim")
    if changed is not None:
        say(f"{changed} calls have another scorecard now")
    else:
        say("[dim]nothing was changed; --apply keeps it[/]")
