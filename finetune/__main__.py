"""`python -m finetune`: make models, measure them, see what they learn from."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random

import typer

from finetune.corpus import call_sentences, datasets
from finetune.corpus.examples import LabelledText, TaggedText
from finetune.evaluate.scores import accuracy
from finetune.recipes.base import (
    JsonlRunRecord,
    described,
    find_recipe,
    needs_nemo,
    needs_training,
    read_parameters,
    read_rows,
)
from nlp.inference import name_finder
from nlp.inference import punctuation as punctuator
from nlp.inference.models import token_encoder
from nlp.inference.models.language_model import DEFAULT, open_model
from tenor.errors import BadInput, TenorError
from tenor.taxonomy import intents as taxonomy

app = typer.Typer(
    name="finetune", help="Make and measure models.", no_args_is_help=True, pretty_exceptions_enable=False
)

DATA = typer.Option(..., "--data", metavar="FOLDER", help="The public sets: sentiment/, nlu/, harper-valley/.")
OUT = typer.Option(Path("models"), "--out", metavar="FOLDER", help="Where the model's folder is made.")
THREADS = typer.Option(1, min=1, help="Processor threads.")
ENCODER = typer.Option(
    "minilm", "--encoder", metavar="NAME", help="minilm, bge-small, e5-small, a folder, or a name on a hub."
)
SHARED = typer.Option(token_encoder.DEFAULT, metavar="FOLDER", help="The shared encoder whose states it reads.")
ENCODERS = typer.Option(
    None, "--encoders", metavar="FOLDER", help="Where the Maven artifacts of bge-small and e5-small are."
)


@app.command()
def language(
    data: Path = DATA,
    out: Path = OUT,
    intents_file: Path = typer.Option(taxonomy.DEFAULT, "--intents", metavar="FILE", help="The taxonomy to learn."),
    name: str = typer.Option("tenor-language", help="Name of the model."),
    version: str = typer.Option("5", help="Its version; a released one is never made again under the same number."),
    corpus: Path = typer.Option(
        call_sentences.DEFAULT,
        "--corpus",
        metavar="FOLDER",
        help="Sentences of calls by many hands; frozen* are only measured on.",
    ),
    shared: Path = SHARED,
    encoders: Path | None = ENCODERS,
    layers: int = typer.Option(4, min=1, help="Upper layers to train, above the shared ones."),
    epochs: int = typer.Option(4, min=1, help="How often every example is seen."),
    rate: float = typer.Option(2e-4, min=0.0, help="How far a step of the layers goes at most."),
    agreement: float = typer.Option(
        1.0,
        "--agreement",
        min=0.0,
        help="How much it counts that an answer without role or sentence before is the answer with them.",
    ),
    precision: str = typer.Option("float32", "--precision", help="float32, or bfloat16 where the processor has it."),
    share: float = typer.Option(1.0, min=0.001, max=1.0, help="Of the sentences, for a quick trial."),
    cache: Path | None = typer.Option(
        None, "--cache", metavar="FILE", help="Keeps the encoder's answers for the next time."
    ),
    seed: int = typer.Option(7, help="The same seed gives the same model."),
    threads: int = THREADS,
) -> None:
    """Train sentiment, intents and slots on the shared encoder, and write the folder that ships."""
    needs_training()
    from finetune.build_language import make_language
    from finetune.train.encoders import load_encoder
    from finetune.train.language_trainer import LanguageOptions
    from finetune.train.loop import LoopOptions

    if precision not in ("float32", "bfloat16"):
        raise BadInput(f"there is no precision {precision!r}", "float32 or bfloat16")
    reader = token_encoder.TokenEncoder(shared)
    loop = LoopOptions(epochs=epochs, layer_rate=rate, seed=seed, threads=threads, precision=precision)  # type: ignore[arg-type]
    start = load_encoder(reader.card.encoder, encoders)
    _print(
        make_language(
            data, corpus, taxonomy.read(intents_file), start, reader, out, LanguageOptions(loop, agreement=agreement),
            layers=layers, name=name, version=version, cache=cache, share=share,
        )
    )  # fmt: skip


@app.command()
def intents(
    files: list[Path] = typer.Argument(
        ..., metavar="TRAIN...", help='Lines of {"text", "intent"}, .jsonl or .jsonl.gz.'
    ),
    test: Path = typer.Option(..., metavar="FILE", help="Lines to measure on."),
    out: Path = OUT,
    name: str = typer.Option("intents", help="Name of the model."),
    epochs: int = typer.Option(3, min=1, help="How often every example is seen."),
    encoder: str = ENCODER,
    encoders: Path | None = ENCODERS,
    seed: int = typer.Option(7, help="The same seed gives the same model."),
    threads: int = THREADS,
) -> None:
    """Train an intent model on sentences of your own, on the same encoder."""
    needs_training()
    rows, measured_on = [row for file in files for row in datasets.intents(file)], datasets.intents(test)
    from finetune.build import make_intents  # takes seconds, and nobody waits for them to hear of a wrong line
    from finetune.train.trainer import TrainingOptions

    options = TrainingOptions(epochs=epochs, seed=seed, threads=threads, encoder=encoder, encoders=encoders)
    _print(make_intents(rows, measured_on, out, options, name=name))


@app.command()
def redaction(
    data: Path = DATA,
    model: Path = typer.Option(
        name_finder.DEFAULT, metavar="FOLDER", help="The encoder that it reads, and where it is put."
    ),
    seed: int = typer.Option(7, help="The same seed gives the same head."),
    threads: int = THREADS,
) -> None:
    """Train the head that finds names and places, for redaction, on the lower layers of the shared encoder."""
    needs_training()
    from finetune.train.redaction_head import make_redaction

    _print(make_redaction(data, model, seed=seed, threads=threads))


@app.command()
def punctuation(
    data: Path | None = typer.Option(
        None, "--data", metavar="FOLDER", help="The public sets, to learn from BANKING77."
    ),
    out: Path = typer.Option(
        punctuator.DEFAULT, "--out", metavar="FOLDER", help="The head's folder, which is written anew."
    ),
    corpus: Path = typer.Option(
        call_sentences.DEFAULT, "--corpus", metavar="FOLDER", help="Sentences of calls; frozen* are only measured on."
    ),
    shared: Path = SHARED,
    name: str = typer.Option("tenor-punctuation", help="Name of the model."),
    version: str = typer.Option("1", help="Its version."),
    seed: int = typer.Option(7, help="The same seed gives the same head."),
) -> None:
    """Train the head that writes marks and capitals where there are none. Needs no torch, and about a minute."""
    from finetune.train.punctuation_head import make_punctuation

    sentences = call_sentences.read(corpus, taxonomy.read())
    reader = token_encoder.TokenEncoder(shared)
    _print(make_punctuation(sentences, reader, out, data=data, name=name, version=version, seed=seed))


@app.command()
def guard(
    model: Path = typer.Option(
        token_encoder.DEFAULT, metavar="FOLDER", help="The encoder that it reads, and where it is put."
    ),
    seed: int = typer.Option(7, help="The same seed gives the same head."),
) -> None:
    """Train the head that knows guarded topics, on the shared encoder. Needs no torch."""
    from finetune.train.guard_head import make_guard

    _print(make_guard(model, seed=seed))


@app.command()
def encoder(
    out: Path = OUT,
    encoder: str = typer.Option("bge-small", metavar="NAME", help="bge-small, e5-small, minilm, or a name on a hub."),
    encoders: Path | None = ENCODERS,
    layers: int = typer.Option(8, min=1, help="How many of its layers, from below."),
    name: str = typer.Option("tenor-encoder", help="Name of the model."),
    version: str = typer.Option("1", help="Its version; models are bound to exactly one."),
    seed: int = typer.Option(7, help="The same seed gives the same model."),
) -> None:
    """Cut the shared encoder from a pretrained one and quantise it. Nothing is trained."""
    needs_training()
    from finetune.export.encoder_export import make_encoder
    from finetune.train.encoders import load_encoder

    typer.echo(make_encoder(load_encoder(encoder, encoders), layers, out, name=name, version=version, seed=seed))


@app.command()
def assistant(
    data: Path = DATA,
    out: Path = OUT,
    shared: Path = SHARED,
    encoders: Path | None = ENCODERS,
    name: str = typer.Option("tenor-assistant", help="Name of the model."),
    version: str = typer.Option("1", help="Its version; a released one is never made again under the same number."),
    epochs: int = typer.Option(6, min=1, help="How often every example is seen."),
    folds: str = typer.Option(
        "",
        "--folds",
        metavar="HANDS",
        help="Hands to leave out in turn for measuring, by commas, or all; takes as long for each.",
    ),
    seed: int = typer.Option(7, help="The same seed gives the same model."),
    threads: int = THREADS,
) -> None:
    """Train the assistant's intents and slots on the shared encoder, and write the folder that ships."""
    needs_training()
    from finetune.build_assistant import Recipe, make_assistant
    from finetune.corpus.assistant_corpus import hands
    from finetune.train.assistant_trainer import AssistantOptions
    from finetune.train.encoders import load_encoder

    reader = token_encoder.TokenEncoder(shared)
    left_out = tuple(hands()) if folds == "all" else tuple(filter(None, folds.split(",")))
    if unknown := set(left_out) - set(hands()):
        raise BadInput(f"no hand is called {', '.join(sorted(unknown))}", f"there are {', '.join(hands())}")
    options = AssistantOptions(epochs=epochs, seed=seed, threads=threads)
    start = load_encoder(reader.card.encoder, encoders)
    _print(make_assistant(data, start, reader, out, options, Recipe(), name=name, version=version, folds=left_out))


@app.command()
def run(
    recipe: str = typer.Argument(..., help="head, layers, intent-slot, whisper, nemo, or module:Class."),
    rows: Path = typer.Argument(..., metavar="ROWS", help="JSON lines, as finetune/recipes/base.py describes them."),
    out: Path = typer.Option(..., "--out", metavar="FOLDER", help="The run's folder: checkpoints, record and model."),
    preset: str = typer.Option("", help="Values that belong together; --set comes after them."),
    settings: list[str] = typer.Option([], "--set", metavar="NAME=VALUE", help="One parameter of the recipe."),
) -> None:
    """Train by a recipe on rows of one's own. The same command again goes on after the last checkpoint."""
    chosen = find_recipe(recipe)
    parameters = read_parameters(chosen, preset, settings)
    record = JsonlRunRecord(out / "record.jsonl")
    try:
        typer.echo(chosen.run(read_rows(rows), parameters, out, record))
    finally:
        record.close()


@app.command("parameters")
def recipe_parameters(recipe: str = typer.Argument(..., help="A recipe.")) -> None:
    """Print a recipe's parameters and presets."""
    chosen = find_recipe(recipe)
    for name, default, text in described(chosen):
        typer.echo(f"{name:18} {default!r:12} {text}")
    for name, values in chosen.presets.items():
        typer.echo(f"preset {name}: " + ", ".join(f"{key}={value}" for key, value in values.items()))


SPEECH = typer.Option(
    ..., "--data", metavar="FOLDER", help="Recordings with transcripts: audio/ and calls/, or NeMo's manifest."
)
RUN = typer.Option(..., "--out", metavar="FOLDER", help="The run's folder: checkpoints, record and model.")
SETTINGS = typer.Option([], "--set", metavar="NAME=VALUE", help="One parameter, such as batch=8.")
VALIDATION = typer.Option(0.1, min=0, max=0.5, help="Share of speakers to measure with, not to train on.")


@app.command()
def whisper(
    data: Path = SPEECH,
    out: Path = RUN,
    preset: str = typer.Option("", help="quick or long; otherwise the defaults."),
    settings: list[str] = SETTINGS,
    validation: float = VALIDATION,
) -> None:
    """Fine-tune the recogniser on recordings of your own. Stopped by SIGTERM (exit code 75), the same command goes on
    after the last checkpoint. What comes out is served with riva.whisper_path."""
    _train_on_speech("whisper", data, out, preset, settings, validation)


@app.command()
def nemo(
    data: Path = SPEECH,
    out: Path = RUN,
    preset: str = typer.Option("", help="tiny or papers; otherwise the defaults."),
    settings: list[str] = SETTINGS,
    validation: float = VALIDATION,
) -> None:
    """Train a CTC model with NeMo on recordings of your own: a new one, or the one of --set model=FILE.nemo. Stopped by
    SIGTERM (exit code 75), the same command goes on after the last checkpoint. What comes out is served with
    riva.ctc_path."""
    _train_on_speech("nemo", data, out, preset, settings, validation)


@app.command("nemo-export")
def nemo_export(
    model: Path = typer.Argument(..., metavar="FILE", help="A .nemo file with a CTC model, of people whom you trust."),
    out: Path = typer.Option(..., "--out", metavar="FOLDER", help="The new folder."),
    language: str = typer.Option("en-US", help="What the server says that the model is for."),
) -> None:
    """Write a CTC model of NeMo as a folder that riva.ctc_path serves, without training it."""
    needs_nemo()
    from finetune.export.ctc_export import export_ctc
    from finetune.train.nemo.model import restored

    if out.exists():
        raise BadInput(f"{out} is there already", "name a folder that is not")
    typer.echo(export_ctc(restored(model), out, {"name": model.stem, "version": "1"}, language))


def _train_on_speech(name: str, data: Path, out: Path, preset: str, settings: Sequence[str], validation: float) -> None:
    from finetune.corpus.speech_folder import read_speech_folder

    recipe = find_recipe(name)
    parameters = read_parameters(recipe, preset, settings)
    found = read_speech_folder(data, validation=validation)
    for fault in found.faults:
        typer.echo(f"left out: {fault}", err=True)
    record = JsonlRunRecord(out / "record.jsonl")
    try:
        typer.echo(recipe.run(found.rows, parameters, out, record))
    finally:
        record.close()


@app.command("whisper-int8")
def whisper_int8(
    model: Path = typer.Argument(..., metavar="MODEL", help="The folder of a recogniser with float16 weights."),
    out: Path = typer.Option(..., "--out", metavar="FOLDER", help="The new folder."),
) -> None:
    """Write a recogniser in int8: the same answers from half of the bytes. It cannot be trained further."""
    from finetune.export.whisper_export import export_int8

    typer.echo(export_int8(model, out))


@app.command()
def speakers(
    wheel: Path = typer.Option(
        ..., "--wheel", metavar="FILE", help="Resemblyzer's, as pip download --no-deps Resemblyzer==0.1.4 gets it."
    ),
    out: Path = typer.Option(Path("models/voice-encoder"), "--out", metavar="FOLDER", help="Where its files are made."),
) -> None:
    """Make the network that tells voices apart, which ships in asr/local/speakers/models. Needs no torch."""
    from finetune.export.speaker_export import export_speakers

    _print(export_speakers(wheel, out))


@app.command()
def evaluate(
    model: Path = typer.Argument(DEFAULT, metavar="[MODEL]", help="A model's folder; the shipped one by default."),
    data: Path = typer.Option(None, "--data", metavar="FOLDER", help="The public sets, for more than our own figures."),
    test: Path = typer.Option(None, metavar="FILE", help="Only intents, on lines of your own."),
) -> None:
    """Measure a model on our frozen sentences and on the public sets."""
    from finetune.evaluate.calibration import likely
    from finetune.evaluate.report import all_scores

    loaded = open_model(model)
    if test is None:
        _print(all_scores(loaded, data))
        return
    rows = datasets.intents(test)
    answers = likely(loaded.predict([row.text for row in rows]), "intent", loaded.card.heads["intent"])
    _print({"accuracy": accuracy([row.label for row in rows], answers)})


@app.command()
def sentences(
    kind: str = typer.Argument(..., help="sentiment, intents or slots"),
    seed: int = typer.Option(7, help="Other seeds make other choices."),
) -> None:
    """Print the sentences of our own that a model learns from, as JSON lines."""
    random = Random(seed)
    rows: Sequence[LabelledText | TaggedText]
    match kind:
        case "sentiment":
            rows = datasets.own_sentiment(random)
        case "intents":
            rows = datasets.own_intents(random)
        case "slots":
            rows = datasets.own_slots(random)
        case _:
            raise BadInput(f"there are no sentences for {kind!r}", "sentiment, intents or slots")
    for row in rows:
        typer.echo(json.dumps(asdict(row), ensure_ascii=False))


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
