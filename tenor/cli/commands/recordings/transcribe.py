"""`tenor transcribe`: recordings in, words out, through the same stages as live calls."""

from __future__ import annotations

import json
from contextlib import aclosing
from typing import Annotated, Literal

import typer
from rich.markup import escape

from ingest.options import IngestOptions
from tenor.cli.context import run, settings
from tenor.cli.output import clock, complain_of_file, console, errors, progress, warn
from tenor.cli.params import Channels, Folders, Language, Paths, RedactFlag, Roles, Speakers, Swap, options_from_flags
from tenor.cli.progress_view import BatchBars
from tenor.errors import BadInput
from tenor.runtime import CallResult, find_inputs, transcribe_async, transcript_document
from tenor.runtime.batch.inputs import Input
from tenor.runtime.profiles import PATIENT, QUIET
from tenor.settings import Settings


def transcribe(
    context: typer.Context,
    paths: Paths,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document per recording, each on one line.")
    ] = False,
    riva: Annotated[
        str | None,
        typer.Option("--riva", metavar="HOST:PORT", help="A running Riva server (default: start one on this CPU)."),
    ] = None,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", min=1, max=100, help="How many recordings are processed at once.")
    ] = 4,
    folders: Folders = False,
    roles: Roles = None,
    speakers: Speakers = None,
    swap: Swap = False,
    channels: Channels = None,
    language: Language = None,
    redact: RedactFlag = None,
    mode: Annotated[
        Literal["streaming", "offline"] | None,
        typer.Option(help="offline sends each side as a whole (Riva's Recognize); default: streaming."),
    ] = None,
    boost: Annotated[list[str] | None, typer.Option(metavar="PHRASE", help="A word or phrase to expect.")] = None,
) -> None:
    """Transcribe recordings: who said what and when, in the order in which you name the files.

    A recording that cannot be read or recognised is reported in one line and the others go on; the exit code is then 2.
    """
    chosen = settings(context, unless_set=QUIET | PATIENT, speech__boosted=boost, speech__mode=mode)
    options = options_from_flags(
        chosen, roles=roles, channels=channels, redact=redact, language=language, swap=swap, speakers=speakers
    )
    inputs = find_inputs(paths, text=False, folders=folders)
    bad = run(_transcribe(chosen, inputs, options, riva=riva, jobs=jobs, as_json=as_json))
    if len(inputs) > 1 and not as_json:
        errors.print(f"{len(inputs) - bad} of {len(inputs)} recordings written down")
    if bad:
        raise typer.Exit(BadInput.exit_code)


async def _transcribe(
    settings: Settings, inputs: list[Input], options: IngestOptions, *, riva: str | None, jobs: int, as_json: bool
) -> int:
    """How many recordings could not be written down."""
    bad = 0
    with progress() as bars:
        batch = transcribe_async(inputs, settings, options=options, riva=riva, jobs=jobs, progress=BatchBars(bars).show)
        async with aclosing(batch) as results:
            async for result in results:
                bad += bool(result.error)
                if as_json:
                    typer.echo(json.dumps(transcript_document(result), ensure_ascii=False))
                else:
                    _show(result, heading=len(inputs) > 1)
    return bad


def _show(result: CallResult, *, heading: bool) -> None:
    if heading:
        console.print(f"[bold]{escape(result.file)}[/]")
    for warning in result.warnings:
        warn(f"{result.file}: {warning}")
    for utterance in result.utterances:
        at, role, text = clock(utterance.start_ms), escape(utterance.role), escape(utterance.text)
        console.print(f"[dim]{at:>7}[/]  [cyan]{role}[/]  {text}", soft_wrap=True)
    if result.error:
        complain_of_file(result.file, result.error)
    elif not result.utterances:
        console.print("[dim](nothing was said)[/]")
