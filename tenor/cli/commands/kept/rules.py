"""`tenor rules`: look over a rule file, and try it on the calls of the past."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from tenor.cli.context import settings, user_name
from tenor.cli.output import clock, console, progress, report_faults, say
from tenor.errors import BadInput
from tenor.settings import LanguageSettings
from tenor.times import parse_since

if TYPE_CHECKING:
    from nlp.rules import RuleSet
    from nlp.rules.replay import AlertDifference
    from storage.db.engine import Database
    from tenor.events import Alert

app = typer.Typer(help="Rules that raise alerts: check a file, try it on past calls.", no_args_is_help=True)

EXAMPLES = 3
File = Annotated[Path | None, typer.Argument(metavar="FILE", help="Default: the rules in force.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def check(context: typer.Context, file: File = None, as_json: AsJson = False) -> None:
    """Find every mistake in a rule file, with line and column, as a compiler does. Exits with 2 when there is one."""
    from nlp import rules
    from nlp.rules.known_names import known

    given = settings(context)
    path = _path(file, given.language)

    def found() -> str:
        count = len(rules.read(path, known(given)))
        return f"{count} rule{'' if count == 1 else 's'}"

    report_faults(path, found, as_json=as_json)


@app.command()
def replay(
    context: typer.Context,
    file: File = None,
    since: Annotated[str, typer.Option("--since", metavar="TIME", help="How far back: 2026-11-01, or 8w.")] = "30d",
    call: Annotated[str, typer.Option("--call", metavar="ID", help="Only this call.")] = "",
    apply: Annotated[bool, typer.Option("--apply", help="Write the alerts that are new.")] = False,
    as_json: AsJson = False,
) -> None:
    """Try rules on past calls: which alerts would be the same, which new, and which missing.

    Nothing is changed without --apply. With it, the new alerts are written beside those that were raised, which stay,
    because people saw them. Webhooks get nothing. Running the command twice writes nothing twice.
    """
    from nlp import rules
    from nlp.rules.known_names import known
    from storage.db.engine import using
    from tenor.model_store.store import language_in_force
    from tenor.taxonomy.in_force import intents_in_force

    given = settings(context)
    ruleset = rules.read(_path(file, given.language), known(given))
    oldest = 0.0 if call else parse_since(since)
    with using(given) as database:
        outcome = _replay(database, ruleset, oldest, call, intents_in_force(language_in_force(given)).tasks)
        if apply:
            _apply(database, outcome, _path(file, given.language))
    if as_json:
        typer.echo(json.dumps(outcome.as_dict(), ensure_ascii=False))
    else:
        _show(outcome)


@dataclass
class ReplaySummary:
    """What came of all calls, by rule."""

    calls: int = 0
    by_rule: dict[str, AlertDifference] = field(default_factory=dict)
    added: int | None = None
    """Alerts written; None when nothing was to be."""

    def add(self, difference: AlertDifference, names: Iterable[str]) -> None:
        from nlp.rules.replay import AlertDifference

        self.calls += 1
        for name in names:
            self.by_rule.setdefault(name, AlertDifference())
        for kind in ("same", "new", "gone"):
            for alert in getattr(difference, kind):
                getattr(self.by_rule.setdefault(alert.rule, AlertDifference()), kind).append(alert)

    @property
    def new(self) -> list[Alert]:
        return [alert for difference in self.by_rule.values() for alert in difference.new]

    def as_dict(self) -> dict[str, Any]:
        def shown(alerts: list[Alert]) -> list[dict[str, Any]]:
            return [{"alert": one.alert, "call": one.call, "at_ms": one.at_ms, "text": one.text} for one in alerts]

        rules = {
            name: {"same": len(one.same), "new": shown(one.new), "gone": shown(one.gone)}
            for name, one in self.by_rule.items()
        }
        return {"calls": self.calls, "rules": rules, "added": self.added}


def _replay(database: Database, ruleset: RuleSet, since: float, call: str, tasks: frozenset[str]) -> ReplaySummary:
    from nlp.rules.replay import compare
    from nlp.rules.replay import replay as watch_again
    from storage.queries.replay import ids, past_calls
    from storage.viewer import HOUSE

    with database.session() as session:
        calls = ids(session, HOUSE, since=since, call=call)
    if call and not calls:
        raise BadInput(f"there is no call {call!r} that is over")
    outcome = ReplaySummary()
    names = [rule.name for rule in ruleset]
    with progress() as bar:
        task = bar.add_task("replaying", total=len(calls), detail=f"{len(calls)} calls")
        for past in past_calls(database, HOUSE, calls):
            found = watch_again(ruleset, past.id, past.info, past.sentences, past.end_ms, tasks)
            outcome.add(compare(past.alerts, found), names)
            bar.advance(task)
    return outcome


def _apply(database: Database, outcome: ReplaySummary, path: Path) -> None:
    from storage.queries.replay import add

    detail = {"rules": path.name, "calls": outcome.calls}
    outcome.added = add(database, outcome.new, user_name(), detail)


def _show(outcome: ReplaySummary) -> None:
    say(f"{outcome.calls} calls")
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("rule")
    for name in ("as before", "new", "not any more"):
        table.add_column(name, justify="right")
    for name, one in outcome.by_rule.items():
        counts = (len(one.same), len(one.new), len(one.gone))
        table.add_row(escape(name), *(str(count or "-") for count in counts))
    console.print(table)
    for kind, title in (("new", "new"), ("gone", "not any more")):
        for name, one in outcome.by_rule.items():
            for alert in getattr(one, kind)[:EXAMPLES]:
                line = f"{title}: {name}  {alert.call} {clock(alert.at_ms)}  {alert.text}"
                console.print(line, markup=False, soft_wrap=True, style="dim" if kind == "gone" else None)
    if outcome.added is not None:
        say(f"{outcome.added} alerts written")
    elif outcome.new:
        say("[dim]nothing was changed; --apply writes what is new[/]")


def _path(file: Path | None, language: LanguageSettings) -> Path:
    from nlp.rules import DEFAULT

    return file or (Path(language.rules) if language.rules else DEFAULT)
