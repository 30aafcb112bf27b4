"""`tenor evaluate`: how good the pipeline is on recordings that people have written down."""

from __future__ import annotations

import json
import os
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from rich.markup import escape

from tenor.cli.commands.recordings.evaluate_privacy import privacy
from tenor.cli.commands.recordings.evaluate_sentences import sentences
from tenor.cli.context import run, settings
from tenor.cli.output import echo, progress, say, writable_folder
from tenor.cli.params import Json
from tenor.cli.progress_view import BatchBars
from tenor.errors import BadInput, Unavailable
from tenor.runtime import transcribe_async
from tenor.runtime.profiles import EVERY_CORE, PATIENT, QUIET, change_settings
from tenor.settings import Settings

if TYPE_CHECKING:
    from nlp.evaluation.alignment import HypothesisWord
    from nlp.evaluation.pipeline import Report
    from nlp.evaluation.transcripts import ReferenceCall

app = typer.Typer(help="Measure how good the pipeline is.", no_args_is_help=True)
app.command()(sentences)
app.command()(privacy)


@app.callback()
def evaluate() -> None:
    """Measure how good the pipeline is."""


@app.command()
def pipeline(
    context: typer.Context,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="audio/NAME.flac and calls/NAME.json; default: harper-valley/dev in $TENOR_BENCH_DATA.",
        ),
    ] = None,
    as_json: Json = False,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Also write the report, the picture and every sentence here.")
    ] = None,
    model: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="The model to measure (default: the one in force).")
    ] = None,
    baseline: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="A model to compare it with, on the same recognised text.")
    ] = None,
    recognised: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="recognised.jsonl of an earlier run; nothing is recognised again."),
    ] = None,
    riva: Annotated[
        str | None,
        typer.Option("--riva", metavar="HOST:PORT", help="A running Riva server (default: start one on this CPU)."),
    ] = None,
    terms: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Business terms, one per line, to count errors on (default: speech.boosted)."
        ),
    ] = None,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", min=1, max=100, help="How many recordings are processed at once.")
    ] = 4,
) -> None:
    """Measure how far the sentiment of recognised text is from what people say it is.

    Where segments in calls/NAME.json have a `sentiment`, people's labels are what the model is measured by. Elsewhere
    it is what the model says of the transcript, which tells what recognition costs but not which model is better. The
    measure is the mean difference; accuracy, precision, recall, F1 and the confusion matrix stand beside it, with
    95 % confidence intervals from drawing whole calls.
    """
    from nlp.evaluation import pipeline as measure
    from nlp.evaluation import transcripts
    from nlp.evaluation.terms import read_terms
    from nlp.inference.backend import open_backend
    from tenor.taxonomy.in_force import sentiments_in_force

    chosen = settings(
        context,
        unless_set=QUIET | PATIENT | EVERY_CORE,
        language__model=model and str(model),
    )
    if out:
        writable_folder(out, "--out")  # told before hours of hearing
    data = data or _default_data()
    calls = transcripts.read(data)
    expected = read_terms(terms) if terms else chosen.speech.boosted
    ours = open_backend(chosen)  # a wrong folder is told before hours of hearing
    other = change_settings(chosen, language={"model": str(baseline)}) if baseline else None
    theirs = open_backend(other) if other else None
    heard = _read(recognised) if recognised else run(_hear(chosen, calls, jobs, riva))
    missing = [call.name for call in calls if call.name not in heard]
    if missing:
        raise BadInput(f"{recognised or data} lacks {len(missing)} of {len(calls)} recordings: {missing[0]}, ...")
    sentences, words = measure.hear(calls, [heard[call.name] for call in calls], expected)
    if not sentences:
        raise BadInput(f"nobody says anything in {data}")
    compared = measure.judge(theirs, sentences, sentiments_in_force(other.language)) if theirs and other else None
    worth = sentiments_in_force(chosen.language)
    judged, bare = measure.judge(ours, sentences, worth), measure.judge(ours, sentences, worth, bare=True)
    report = measure.Report(sentences, words, judged, bare, compared)
    if as_json:
        typer.echo(json.dumps(report.document(), ensure_ascii=False))
    else:
        echo("\n".join(report.lines()))
    if out:
        _write(out, report, heard)
        say(f"report, picture and sentences are in {escape(str(out))}")


def _default_data() -> Path:
    root = os.environ.get("TENOR_BENCH_DATA")
    if not root:
        raise BadInput("no recordings were named", "--data FOLDER with audio/NAME.flac and calls/NAME.json")
    return Path(root) / "harper-valley" / "dev"


async def _hear(
    settings: Settings, calls: list[ReferenceCall], jobs: int, riva: str | None
) -> dict[str, list[HypothesisWord]]:
    """The words of every recording, through the same stages as ever."""
    from ingest.options import IngestOptions
    from ingest.sources import Source
    from nlp.evaluation.alignment import HypothesisWord

    inputs = [Source("file", str(call.audio.resolve())) for call in calls]
    options = IngestOptions(split=True, language=settings.speech.language, redact="off")
    heard: dict[str, list[HypothesisWord]] = {}
    with progress() as bars:
        batch = transcribe_async(inputs, settings, options=options, riva=riva, jobs=jobs, progress=BatchBars(bars).show)
        async with aclosing(batch) as results:
            names = iter(calls)
            async for result in results:
                call = next(names)
                if result.error:
                    raise Unavailable(f"{result.file} could not be heard: {result.error.message}", result.error.hint)
                heard[call.name] = [
                    HypothesisWord(utterance.channel, word.start_ms, word.end_ms, word.text)
                    for utterance in result.utterances
                    for word in utterance.words
                ]
    return heard


def _read(file: Path) -> dict[str, list[HypothesisWord]]:
    from nlp.evaluation.alignment import HypothesisWord

    try:
        lines = file.read_bytes().splitlines()
        return dict(msgspec.json.decode(line, type=tuple[str, list[HypothesisWord]]) for line in lines)
    except (OSError, msgspec.MsgspecError) as error:
        raise BadInput(
            f"{file} is no file of recognised words: {error}", "--out of an earlier run writes one"
        ) from None


def _write(folder: Path, report: Report, heard: dict[str, list[HypothesisWord]]) -> None:
    from nlp.evaluation.picture import confusion_svg

    measured = report.judged.measured
    anchor = "transcript" if report.judged.people is None else "people"
    picture = confusion_svg(
        measured.matrix,
        measured.labels,
        f"Sentiment, {anchor} against recognised text",
        "what people wrote down" if report.judged.people is None else "what people say it is",
        "what was recognised",
    )
    rows = [
        {
            "call": sentence.call,
            "role": sentence.role,
            "start_ms": sentence.start_ms,
            "transcript": sentence.text,
            "recognised": sentence.recognised,
            "people": sentence.sentiment or None,
            "wanted": wanted,
            "got": got,
        }
        for sentence, (wanted, got) in zip(report.sentences, report.judged.pairs, strict=True)
    ]
    (folder / "report.json").write_text(json.dumps(report.document(), ensure_ascii=False, indent=1) + "\n")
    (folder / "report.txt").write_text("\n".join(report.lines()) + "\n")
    (folder / "confusion.svg").write_text(picture)
    (folder / "sentences.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    (folder / "recognised.jsonl").write_bytes(b"".join(msgspec.json.encode(item) + b"\n" for item in heard.items()))
