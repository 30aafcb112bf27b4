"""`tenor learn`: from what people corrected to a better model in force, step by step."""

from __future__ import annotations

from datetime import datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from rich.markup import escape
from rich.progress import Progress, TaskID

from tenor.cli.context import settings, viewer
from tenor.cli.output import console, progress, say, warn
from tenor.cli.params import Json
from tenor.errors import BadInput
from tenor.runtime.models import pinned_by
from tenor.runtime.profiles import QUIET
from tenor.times import parse_since

if TYPE_CHECKING:
    from storage.db.engine import Database
    from tenor.learn import LearnResult, StepReport
    from tenor.settings import Settings

NAME = "house"
DEEP = ("head", "layers")


def learn(
    context: typer.Context,
    search: Annotated[
        str, typer.Option("--search", metavar="QUERY", help='Which sentences, e.g. "queue:billing"; all by default.')
    ] = "",
    since: Annotated[
        str, typer.Option("--since", metavar="TIME", help="Only calls since then: 2026-11-01, or 8w ago.")
    ] = "",
    recipe: Annotated[
        list[str] | None,
        typer.Option("--recipe", metavar="NAME", help="How to train; may be given again (default: learn.recipes)."),
    ] = None,
    deep: Annotated[
        bool, typer.Option("--deep", help="Train head and layers, and judge the better; needs torch.")
    ] = False,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter; of one of several recipes: RECIPE.NAME=VALUE."),
    ] = None,
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="Of the dataset and the models.")] = NAME,
    promote: Annotated[
        bool | None,
        typer.Option("--promote/--no-promote", help="Put what passes the gate in force (default: learn.promote)."),
    ] = None,
    sample: Annotated[
        bool, typer.Option("--sample", help="Add a made-up company first, learn from its calls alone, and promote.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Train a model with the labels that people gave, and judge whether it is better than the one in force.

    The steps are archive, labels, snapshot, dataset, train, gate, shadow, promote. A step whose input has not changed
    since the last time is skipped. You may interrupt the command anywhere and start it again: it goes on where it was.
    It exits with 0 if the model passed the gate, and with 1 if it did not.
    """
    if deep and recipe:
        raise BadInput("--deep and --recipe say both how to train", "leave one of them out")
    if sample and (search or since or set_ or promote is not None or name != NAME):
        raise BadInput("--sample learns from the sample company alone, and promotes", "leave the other options out")
    recipes = _deep() if deep else tuple(recipe or ())
    chosen = settings(context, unless_set=QUIET)
    from storage.db.engine import using

    with using(chosen) as database, _StepView(as_json=as_json) as view:
        if sample:
            result = _sample(chosen, database, recipes, view, as_json=as_json)
        else:
            from tenor.learn import learn as run_loop

            result = run_loop(
                chosen, database, viewer(), name=name, search=_search(search, since), recipes=recipes,
                values=set_ or (), promote=promote, told=view.told, progress=view.progress,
            )  # fmt: skip
    if all(step.skipped or step.step in ("archive", "promote") for step in result.steps):
        say("nothing has changed since last time: everything is current")
    if result.promoted and (setting := pinned_by(chosen, "language")):
        warn(f"{setting} is set: where it is, that model is used and not {', '.join(result.promoted)}")
    if not result.passed:
        raise typer.Exit(1)


def _sample(
    chosen: Settings, database: Database, recipes: tuple[str, ...], view: _StepView, *, as_json: bool
) -> LearnResult:
    from tenor.learn.sample import add_sample_company, company_name, learn_sample, try_out

    if added := add_sample_company(chosen, database):
        say(f"{added} sample calls of {company_name()}, a made-up company, added")
        say("[dim]`tenor sample remove` takes them away[/]")
    result = learn_sample(chosen, database, viewer(), recipes=recipes, told=view.told, progress=view.progress)
    if result.promoted and not as_json:  # and not if somebody has rolled it back
        for one in try_out(chosen, database, result):
            console.print(
                f"[dim]before[/] {escape(one.before)}  [dim]now[/] [bold]{escape(one.after)}[/]  {escape(one.text)}",
                soft_wrap=True,
            )
    return result


class _StepView:
    """A bar while a step works, which makes room for a line when it is done."""

    def __init__(self, *, as_json: bool) -> None:
        self._json = as_json
        self._bars: Progress | None = None
        self._bar = TaskID(0)

    def progress(self, step: str, done: int, total: int) -> None:
        if step == "train":  # recipes have a bar of their own
            return
        if self._bars is None:
            self._bars = progress()
            self._bar = self._bars.add_task(step, total=None, detail="")
            self._bars.start()
        self._bars.update(self._bar, description=step, completed=done, total=total or None)

    def told(self, report: StepReport) -> None:
        self._hide()
        if self._json:
            typer.echo(msgspec.json.encode(report.document()))
            return
        took = "unchanged, skipped" if report.skipped else f"{report.seconds:.0f} s"
        console.print(
            f"{report.number} {report.step:9} [dim]{report.stage:12}[/] {escape(report.text)}  [dim]{took}[/]",
            soft_wrap=True,
        )

    def _hide(self) -> None:
        if self._bars is not None and not self._bars.disable:
            self._bars.stop()
        self._bars = None

    def __enter__(self) -> _StepView:
        return self

    def __exit__(self, *_: object) -> None:
        self._hide()


def _deep() -> tuple[str, ...]:
    if find_spec("torch") is None:
        warn("torch is not installed, so `head` is trained alone: pip install 'tenor[finetune]'")
        return DEEP[:1]
    return DEEP


def _search(search: str, since: str) -> str:
    """Whole days, so that the same command finds the same on one day."""
    if not since:
        return search
    day = datetime.fromtimestamp(parse_since(since)).date()
    return f"{search} since:{day.isoformat()}".strip()
