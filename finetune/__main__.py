"""`python -m finetune`: make language models, measure them, see what they learn from."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random

import typer

from finetune import sources
from finetune.examples import Labelled, Tagged
from finetune.scores import accuracy
from nlp import taxonomy
from nlp.model import DEFAULT, Model
from tenor.errors import BadInput, TenorError, Unavailable

app = typer.Typer(
    name="finetune", help="Make and measure language models.", no_args_is_help=True, pretty_exceptions_enable=False
)

DATA = typer.Option(..., "--data", metavar="FOLDER", help="The public sets: sentiment/, nlu/, harper-valley/.")
OUT = typer.Option(Path("models"), "--out", metavar="FOLDER", help="Where the model's folder is made.")
THREADS = typer.Option(1, min=1, help="Processor threads.")


@app.command()
def language(
    data: Path = DATA,
    out: Path = OUT,
    intents_file: Path = typer.Option(taxonomy.DEFAULT, "--intents", metavar="FILE", help="The taxonomy to learn."),
    name: str = typer.Option("tenor-language", help="Name of the model."),
    version: str = typer.Option("2", help="Its version; a released one is never made again under the same number."),
    epochs: int = typer.Option(2, min=1, help="How often every example is seen."),
    seed: int = typer.Option(7, help="The same seed gives the same model."),
    threads: int = THREADS,
) -> None:
    """Train sentiment, intents and slots on one encoder, and write the folder that ships."""
    _needs_torch()
    from finetune.making import make_language
    from finetune.training import Course

    course = Course(epochs=epochs, seed=seed, threads=threads)
    _print(make_language(data, taxonomy.read(intents_file), out, course, name=name, version=version))


@app.command()
def intents(
    files: list[Path] = typer.Argument(
        ..., metavar="TRAIN...", help='Lines of {"text", "intent"}, .jsonl or .jsonl.gz.'
    ),
    test: Path = typer.Option(..., metavar="FILE", help="Lines to measure on."),
    out: Path = OUT,
    name: str = typer.Option("intents", help="Name of the model."),
    epochs: int = typer.Option(3, min=1, help="How often every example is seen."),
    seed: int = typer.Option(7, help="The same seed gives the same model."),
    threads: int = THREADS,
) -> None:
    """Train an intent model on sentences of your own, on the same encoder."""
    _needs_torch()
    rows, measured_on = [row for file in files for row in sources.intents(file)], sources.intents(test)
    from finetune.making import make_intents  # takes seconds, and nobody waits for them to hear of a wrong line
    from finetune.training import Course

    _print(make_intents(rows, measured_on, out, Course(epochs=epochs, seed=seed, threads=threads), name=name))


@app.command()
def redaction(
    data: Path = DATA,
    model: Path = typer.Option(
        DEFAULT, metavar="FOLDER", help="The model whose encoder it reads, and where it is put."
    ),
    seed: int = typer.Option(7, help="The same seed gives the same head."),
    threads: int = THREADS,
) -> None:
    """Train the head that finds names and places, for redaction, on the lower layers of a model that is made."""
    _needs_torch()
    from finetune.grafting import make_redaction

    _print(make_redaction(data, model, seed=seed, threads=threads))


@app.command()
def evaluate(
    model: Path = typer.Argument(DEFAULT, metavar="[MODEL]", help="A model's folder; the shipped one by default."),
    data: Path = typer.Option(None, "--data", metavar="FOLDER", help="The public sets, for more than our own figures."),
    test: Path = typer.Option(None, metavar="FILE", help="Only intents, on lines of your own."),
) -> None:
    """Measure a model on our frozen sentences and on the public sets."""
    from finetune.calibration import likely
    from finetune.evaluation import all_figures

    loaded = Model(model)
    if test is None:
        _print(all_figures(loaded, data))
        return
    rows = sources.intents(test)
    answers = likely(loaded.read([row.text for row in rows]), "intent", loaded.card.heads["intent"])
    _print({"accuracy": accuracy([row.label for row in rows], answers)})


@app.command()
def sentences(
    kind: str = typer.Argument(..., help="sentiment, intents or slots"),
    seed: int = typer.Option(7, help="Other seeds make other choices."),
) -> None:
    """Print the sentences of our own that a model learns from, as JSON lines."""
    random = Random(seed)
    rows: Sequence[Labelled | Tagged]
    match kind:
        case "sentiment":
            rows = sources.own_sentiment(random)
        case "intents":
            rows = sources.own_intents(random)
        case "slots":
            rows = sources.own_slots(random)
        case _:
            raise BadInput(f"there are no sentences for {kind!r}", "sentiment, intents or slots")
    for row in rows:
        typer.echo(json.dumps(asdict(row), ensure_ascii=False))


def _needs_torch() -> None:
    from importlib.util import find_spec

    missing = [name for name in ("torch", "transformers", "onnx") if find_spec(name) is None]
    if missing:
        raise Unavailable(f"training needs {', '.join(missing)}", "pip install 'tenor[finetune]'")


def _print(figures: dict[str, float]) -> None:
    typer.echo(json.dumps({name: round(value, 4) for name, value in figures.items()}, indent=2))


def main() -> None:
    try:
        app(standalone_mode=True)
    except TenorError as error:
        typer.echo(f"error: {error.message}" + (f"\n       {error.hint}" if error.hint else ""), err=True)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
