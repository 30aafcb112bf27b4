"""`tenor finetune`: train a model on a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from rich.markup import escape
from rich.table import Table

from tenor.cli.context import Context, settings, viewer
from tenor.cli.output import console, progress, say, warn
from tenor.cli.params import Json
from tenor.errors import BadInput
from tenor.runtime.profiles import QUIET
from tenor.settings import Settings

if TYPE_CHECKING:
    from storage.jobs.places import Placed
    from storage.jobs.queue import Submission
    from tenor.learn import GridResult


def finetune(
    context: typer.Context,
    dataset: Annotated[
        str, typer.Argument(metavar="DATASET@N", help="A version of a dataset; without @N the newest.")
    ] = "",
    recipe: Annotated[
        str, typer.Option("--recipe", metavar="NAME", help="head, layers, intent-slot, whisper, nemo, or module:Class.")
    ] = "head",
    preset: Annotated[
        str, typer.Option("--preset", metavar="NAME", help="A named set of parameters; `papers` are the papers'.")
    ] = "",
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="One parameter; use it again for further ones."),
    ] = None,
    grid: Annotated[
        list[str] | None,
        typer.Option(
            "--grid", metavar="NAME=A,B", help="Try these values out: one training each; use it again to combine."
        ),
    ] = None,
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="Name of the model (default: the dataset's).")
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FOLDER", help="Write the model to this folder, not to the registry."),
    ] = None,
    resume: Annotated[int, typer.Option("--resume", metavar="RUN", help="Go on with a run that was paused.")] = 0,
    vocabulary: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Allowed words: rows with others are not learned from.")
    ] = None,
    rare: Annotated[
        int, typer.Option("--rare", min=0, metavar="ROWS", help="Words in fewer rows than this are not allowed.")
    ] = 0,
    on: Annotated[
        str,
        typer.Option(
            "--on", metavar="PLACE,...", help="here, queue, kubernetes or slurm; of several the first free one."
        ),
    ] = "here",
    team: Annotated[
        str, typer.Option("--team", metavar="NAME", help="With --on: the team whose quota the job takes.")
    ] = "",
    share: Annotated[
        float, typer.Option("--share", metavar="SHARES", help="With --on: how many shares of a machine it needs.")
    ] = 1.0,
    parameters: Annotated[
        bool, typer.Option("--parameters", help="Show the parameters of the recipe, and end.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Train a model on a dataset, from the one that is in force.

    The new model is a candidate in the registry; `tenor models gate` judges it. The recipe `head` takes minutes and
    needs only Tenor; the others need torch (`pip install 'tenor\\[finetune]'`). On SIGTERM the training saves a
    checkpoint and exits with 75; `--resume` goes on from there. With --on it runs as a job elsewhere: see `tenor jobs`.
    """
    if parameters:
        _show_parameters(recipe)
        return
    from storage.db.engine import using
    from storage.jobs.places import HERE
    from storage.jobs.queue import Submission
    from storage.runs import runs
    from tenor.learn import finetune as train
    from tenor.learn import finetune_grid

    chosen = settings(context, unless_set=QUIET)
    if grid and (out is not None or resume):
        raise BadInput("a grid makes several runs, and --out and --resume are for one", "leave them out")
    if on != HERE:
        words = _words(dataset, recipe, preset, set_ or [], name, out, resume, vocabulary, rare, grid or [])
        placed = _placed(context, chosen, on, Submission(tuple(words), team, share))
        if placed.place != HERE:
            if placed.place == "slurm" and chosen.storage_url.startswith("sqlite"):
                warn("the database is a file of this machine: other nodes need a PostgreSQL server (storage.url)")
            _tell_place(placed, as_json)
            return
    with using(chosen) as database, progress() as bars:
        if resume:
            with database.session() as session:
                before = runs.find(session, resume).run
            dataset, recipe, preset = dataset or before.dataset, before.recipe, before.preset
        if not dataset:
            raise BadInput("no dataset was named", "`tenor dataset list` shows them")
        bar = bars.add_task("preparing", total=None, detail="")
        if grid:
            tried = finetune_grid(
                chosen, database, viewer(), dataset, grid, recipe=recipe, preset=preset, values=set_ or (), name=name,
                vocabulary=vocabulary, rare=rare,
                progress=lambda done, total: bars.update(bar, completed=done, total=total or None),
            )  # fmt: skip
            bars.stop()
            _tell_grid(tried, as_json)
            return
        trained = train(
            chosen, database, viewer(), dataset, recipe=recipe, preset=preset, values=set_ or (), name=name, out=out,
            resume=resume, vocabulary=vocabulary, rare=rare,
            progress=lambda done, total: bars.update(bar, completed=done, total=total or None),
        )  # fmt: skip
    left_out = trained.left_out
    if as_json:
        document = {"run": trained.run, "model": trained.model, "folder": str(trained.folder)}
        dropped = {"left_out": {"rows": left_out.dropped, "words": left_out.words}} if left_out is not None else {}
        typer.echo(msgspec.json.encode(document | dropped))
        return
    if left_out is not None:
        say(escape(left_out.listed))
    say(f"run {trained.run} is done")
    console.print(escape(trained.model or str(trained.folder)), soft_wrap=True)
    if trained.model:
        say(f"judge it: tenor models gate {trained.model}")


def _tell_grid(tried: GridResult, as_json: bool) -> None:
    best = tried.best
    if as_json:
        shown = [{"run": one.run, "model": one.model, **one.values, "val": one.score} for one in tried.runs]
        typer.echo(msgspec.json.encode({"sweep": tried.sweep, "runs": shown, "best": best.run if best else None}))
        return
    table = Table(box=None, header_style="dim")
    for column in ("run", *tried.runs[0].values, "on validation", "model"):
        table.add_column(column)
    for one in tried.runs:
        score = "" if one.score is None else f"{100 * one.score:.1f} %{'  best' if one is best else ''}"
        table.add_row(str(one.run), *map(escape, one.values.values()), score, escape(one.model))
    console.print(table)
    say(f"are they certainly different? tenor runs compare {' '.join(str(one.run) for one in tried.runs[:10])}")
    if best is not None and best.model:
        say(f"judge the best: tenor models gate {best.model}")


def _words(
    dataset: str, recipe: str, preset: str, values: list[str], name: str, out: Path | None, resume: int,
    vocabulary: Path | None, rare: int, grid: list[str],
) -> list[str]:  # fmt: skip
    """The same command, for whoever runs it elsewhere. What is misspelt is told now, and not when its turn has come."""
    from finetune.recipes.base import find_recipe, read_parameters
    from tenor.learn.grid import combinations

    if not dataset and not resume:
        raise BadInput("no dataset was named", "`tenor dataset list` shows them")
    for one in combinations(grid):
        read_parameters(find_recipe(recipe), preset, [*values, *(f"{name}={value}" for name, value in one.items())])
    flags = {"--recipe": recipe, "--preset": preset, "--name": name, "--rare": str(rare) if rare else ""}
    flags |= {flag: str(path.resolve()) for flag, path in (("--out", out), ("--vocabulary", vocabulary)) if path}
    words = ["finetune", *([dataset] if dataset else [])]
    words += [word for flag, value in flags.items() if value for word in (flag, value)]
    words += [word for value in values for word in ("--set", value)]
    words += [word for one in grid for word in ("--grid", one)]
    return [*words, *(["--resume", str(resume)] if resume else [])]


def _placed(context: typer.Context, chosen: Settings, on: str, wanted: Submission) -> Placed:
    from storage.datasets.manifest import find
    from storage.db.engine import using
    from storage.jobs.places import place_job, read_places
    from storage.place import Place

    places = read_places(on)
    if not wanted.words[1].startswith("-"):
        find(Place(chosen.learn_url), wanted.words[1])
    given: Context = context.obj
    with using(chosen) as database:
        return place_job(database, viewer(), chosen, wanted, places, given.arguments(), tell=say)


def _tell_place(placed: Placed, as_json: bool) -> None:
    if as_json:
        file = str(placed.file) if placed.file else None
        document = {"place": placed.place, "job": placed.job, "file": file, "submitted": placed.submitted}
        typer.echo(msgspec.json.encode(document))
        return
    console.print(f"job {placed.job}")
    if not placed.submitted:
        say(f"submit it where {placed.place} is: {escape(str(placed.file))}")
    elif placed.place == "queue":
        say(f"follow it: tenor jobs show {placed.job}")


def _show_parameters(recipe: str) -> None:
    from finetune.recipes.base import described, find_recipe

    found = find_recipe(recipe)
    table = Table(box=None, header_style="dim")
    for column in ("parameter", "default", "meaning"):
        table.add_column(column, overflow="fold")
    for parameter, default, meaning in described(found):
        table.add_row(parameter, escape(str(default)), escape(meaning))
    console.print(table)
    for preset, values in found.presets.items():
        console.print(f"[dim]--preset {preset}:[/] " + escape(", ".join(f"{k}={v}" for k, v in values.items())))
