"""`tenor finetune`: train a model on a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.markup import escape
from rich.table import Table

from tenor.cli.context import settings, viewer
from tenor.cli.output import console, progress, say
from tenor.cli.params import Json
from tenor.errors import BadInput
from tenor.runtime.profiles import QUIET


def finetune(
    context: typer.Context,
    dataset: Annotated[str, typer.Argument(metavar="DATASET@N", help="A version of a dataset, or its newest.")] = "",
    recipe: Annotated[
        str, typer.Option("--recipe", metavar="NAME", help="head, layers, intent-slot, whisper, nemo, or module:Class.")
    ] = "head",
    preset: Annotated[
        str, typer.Option("--preset", metavar="NAME", help="Parameters that go together; `papers` are the papers'.")
    ] = "",
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="One parameter; may be given again.")
    ] = None,
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="Of the model (default: the dataset's).")] = "",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FOLDER", help="Write the model here, past the registry.")
    ] = None,
    resume: Annotated[int, typer.Option("--resume", metavar="RUN", help="Go on with a run that was paused.")] = 0,
    parameters: Annotated[
        bool, typer.Option("--parameters", help="Show what the recipe can be told, and end.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Train a model on a dataset, from the one that is in force.

    What comes of it is a candidate in the registry; `tenor models gate` judges it. `head` takes minutes and needs
    nothing more than Tenor; the other recipes need torch (`pip install 'tenor[finetune]'`). SIGTERM saves a checkpoint
    and ends with 75; `--resume` goes on from there.
    """
    if parameters:
        _show_parameters(recipe)
        return
    from storage.db.engine import using
    from storage.runs import runs
    from tenor.learn import finetune as train

    chosen = settings(context, unless_set=QUIET)
    with using(chosen) as database, progress() as bars:
        if resume:
            with database.session() as session:
                before = runs.find(session, resume).run
            dataset, recipe, preset = dataset or before.dataset, before.recipe, before.preset
            set_ = [f"{key}={value}" for key, value in before.parameters.items() if key != "seed" or value]
        if not dataset:
            raise BadInput("no dataset was named", "`tenor dataset list` shows them")
        bar = bars.add_task("preparing", total=None, detail="")
        trained = train(
            chosen, database, viewer(), dataset, recipe=recipe, preset=preset, values=set_ or (), name=name, out=out,
            resume=resume, progress=lambda done, total: bars.update(bar, completed=done, total=total or None),
        )  # fmt: skip
    if as_json:
        typer.echo(msgspec.json.encode({"run": trained.run, "model": trained.model, "folder": str(trained.folder)}))
        return
    say(f"run {trained.run} is done")
    console.print(escape(trained.model or str(trained.folder)), soft_wrap=True)
    if trained.model:
        say(f"judge it: tenor models gate {trained.model}")


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
