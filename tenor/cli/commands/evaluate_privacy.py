"""`tenor evaluate privacy`: how much accuracy redaction costs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from tenor.cli.context import settings, viewer
from tenor.cli.output import progress, say
from tenor.cli.params import Json
from tenor.errors import BadInput
from tenor.runtime.profiles import QUIET


def privacy(
    context: typer.Context,
    dataset: Annotated[str, typer.Argument(metavar="NAME[@N]", help="A dataset with labels of sentiment or intent.")],
    levels: Annotated[
        str, typer.Option("--levels", metavar="A,B,...", help="Strengths of redaction between 0 and 1.")
    ] = "0.05,0.1,0.2,0.4,0.6,0.8,0.9,0.95",
    folds: Annotated[int, typer.Option("--folds", min=2, max=50, help="Parts that are held out in turn.")] = 5,
    model: Annotated[
        str, typer.Option("--model", metavar="FOLDER", help="What every fold begins with (default: what ships).")
    ] = "",
    epochs: Annotated[int, typer.Option("--epochs", min=1, help="How often a head sees every row.")] = 10,
    plot: Annotated[Path | None, typer.Option("--plot", metavar="FILE.svg", help="Draw it.")] = None,
    as_json: Json = False,
) -> None:
    """How much accuracy each level of redaction costs.

    At every level all kinds of personal data are taken out, before learning and before answering; a word goes if it is
    likelier than 1 less the level to be part of a name or an address. Without redaction first. Heads are learned on
    all folds but one and asked about that one; every fold is printed, and the mean. speech.redact_threshold and
    speech.redact_thresholds put a level in force: level 0.8 is a threshold of 0.2.
    """
    from tenor.learn.privacy import measure_privacy

    if plot is not None and plot.suffix != ".svg":
        raise BadInput(f"--plot {plot}: the picture is an SVG", "name a file that ends in .svg")
    wanted = _levels(levels)
    with progress() as bars:
        task = bars.add_task("privacy", total=None, detail="reading")
        report = measure_privacy(
            settings(context, unless_set=QUIET), viewer(), dataset, levels=wanted, folds=folds, model=model,
            epochs=epochs, progress=lambda done, total: bars.update(task, completed=done, total=total, detail="heads"),
        )  # fmt: skip
    typer.echo(msgspec.json.encode(report) if as_json else "\n".join(report.lines()))
    if plot is not None:
        from finetune.evaluate.privacy_picture import privacy_svg

        try:
            plot.write_text(privacy_svg(f"What redaction costs on {dataset}", report), "utf-8")
        except OSError as error:
            raise BadInput(f"--plot {plot} cannot be written: {error.strerror}") from None
        say(f"picture: {plot}")


def _levels(text: str) -> list[float]:
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        raise BadInput(f"--levels {text}: not all of these are numbers", "e.g. --levels 0.2,0.5,0.9") from None
    if wrong := [level for level in found if not 0 < level < 1]:
        raise BadInput(f"--levels {text}: {wrong[0]:g} is not between 0 and 1", "no redaction is always measured, too")
    return found
