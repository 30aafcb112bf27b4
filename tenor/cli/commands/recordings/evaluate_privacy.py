"""`tenor evaluate privacy`: how much accuracy redaction costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from rich.markup import escape

from tenor.cli.context import settings, viewer
from tenor.cli.output import progress, say
from tenor.cli.params import Json
from tenor.errors import BadInput
from tenor.runtime.profiles import QUIET
from tenor.settings import Settings

if TYPE_CHECKING:
    from finetune.evaluate.privacy import PrivacyReport, Redact
    from tenor.redaction import Redactor


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
    if plot is not None and plot.suffix != ".svg":
        raise BadInput(f"--plot {plot}: the picture is an SVG", "name a file that ends in .svg")
    wanted = _levels(levels)
    with progress() as bars:
        task = bars.add_task("privacy", total=None, detail="reading")
        report = _measured(
            settings(context, unless_set=QUIET), dataset, wanted, folds, model, epochs,
            progress=lambda done, total: bars.update(task, completed=done, total=total, detail="heads"),
        )  # fmt: skip
    typer.echo(msgspec.json.encode(report) if as_json else "\n".join(report.lines()))
    if plot is not None:
        from finetune.evaluate.privacy_picture import privacy_svg

        try:
            plot.write_text(privacy_svg(f"What redaction costs on {dataset}", report), "utf-8")
        except OSError as error:
            raise BadInput(f"--plot {plot} cannot be written: {error.strerror}") from None
        say(f"picture: {escape(str(plot))}")


def _levels(text: str) -> list[float]:
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        raise BadInput(f"--levels {text}: not all of these are numbers", "e.g. --levels 0.2,0.5,0.9") from None
    if wrong := [level for level in found if not 0 < level < 1]:
        raise BadInput(f"--levels {text}: {wrong[0]:g} is not between 0 and 1", "no redaction is always measured, too")
    return found


def _measured(
    settings: Settings, dataset: str, levels: Sequence[float], folds: int, model: str, epochs: int,
    progress: Callable[[int, int], None],
) -> PrivacyReport:  # fmt: skip
    """Nothing of the hold-out is looked at."""
    from finetune.evaluate.privacy import NONE, privacy_sweep
    from finetune.recipes.head import HeadParameters
    from storage.datasets import open_dataset
    from tenor.learn.training import RunRecords, training_rows
    from tenor.redaction import KINDS
    from tenor.redaction.patterns import PatternRedactor
    from tenor.runtime.redactor import FinderAtThreshold, FinderWhenNeeded

    with open_dataset(settings, dataset, viewer=viewer()) as opened:
        rows = [row for row in training_rows(opened.rows()) if row.split != "holdout"]
    finder = FinderWhenNeeded(settings)
    of_level: dict[str, tuple[float | None, Redact]] = {NONE: (None, lambda text, before: text)}
    for level in levels:
        threshold = round(1 - level, 6)
        redactor = PatternRedactor(KINDS, FinderAtThreshold(finder, threshold))
        of_level[f"{level:g}"] = threshold, _by(redactor)
    parameters = HeadParameters(model=model, epochs=epochs)
    return privacy_sweep(rows, of_level, RunRecords(), folds=folds, parameters=parameters, progress=progress)


def _by(redactor: Redactor) -> Redact:
    return lambda text, before: redactor.redact(text, (), before=before or "").text
