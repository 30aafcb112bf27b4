"""`tenor transcribe`: recordings in, words out, through the same stages as live calls."""

from __future__ import annotations

import json
from contextlib import aclosing
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
from rich.markup import escape

from tenor.bus import Bus
from tenor.cli.batch import Order, Outcome, outcomes
from tenor.cli.context import QUIET, run, settings
from tenor.cli.flags import (
    Channels,
    Folders,
    Language,
    Missing,
    Paths,
    RedactFlag,
    Roles,
    Swap,
    named,
    recording_options,
)
from tenor.cli.output import clock, complain, console, errors, progress, warn
from tenor.cli.shift import recogniser
from tenor.cli.stages import stage
from tenor.errors import BadInput
from tenor.events import TRANSCRIPTS
from tenor.settings import Settings
from tenor.stage import Stage

if TYPE_CHECKING:
    from ingest.options import Options
    from ingest.sources import Source


PATIENT = {
    "speech.stop_history_ms": 500,
    "speech.patient": True,
    "speech.timeout_s": 300.0,  # with --jobs 100, as many windows may wait for a decoder
    "riva.window_s": 20.0,
    "ingest.chunk_ms": 500,
}
"""Nobody waits for the end of a sentence here: more patience than live costs fewer words, and less time in all."""


def document(outcome: Outcome) -> dict[str, Any]:
    """What `--json` prints."""
    info = msgspec.to_builtins(outcome.info) if outcome.info else {}
    state = "failed" if outcome.error else "ended"
    call = {"id": outcome.call, "file": outcome.file, "state": state, "reason": outcome.error}
    keys = ("channel", "role", "start_ms", "end_ms", "text", "words", "confidence", "model")
    return {
        "call": {**call, "duration_ms": outcome.duration_ms, "warnings": outcome.warnings, **info},
        "utterances": [{key: value[key] for key in keys} for value in map(msgspec.to_builtins, outcome.said)],
    }


def transcribe(
    context: typer.Context,
    paths: Paths,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document a recording, one a line.")] = False,
    riva: Annotated[
        str | None, typer.Option("--riva", metavar="HOST:PORT", help="A Riva server (default: one of our own).")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, max=100, help="Recordings at once.")] = 4,
    folders: Folders = False,
    roles: Roles = None,
    swap: Swap = False,
    channels: Channels = None,
    language: Language = None,
    redact: RedactFlag = None,
    boost: Annotated[list[str] | None, typer.Option(metavar="PHRASE", help="A word or phrase to expect.")] = None,
) -> None:
    """Write down recordings: who said what and when, in the order given.

    A recording that cannot be read or heard is told in one line, the rest go on; then the exit code is 2.
    """
    chosen = settings(
        context, unless_set=QUIET | PATIENT, speech__address=riva, speech__interim=False, speech__boosted=boost
    )
    options = recording_options(chosen, roles=roles, channels=channels, redact=redact, language=language, swap=swap)
    sources = named(paths, folders=folders)
    bad = run(_transcribe(chosen, sources, options, jobs, own=riva is None, as_json=as_json))
    if len(sources) > 1 and not as_json:
        errors.print(f"{len(sources) - bad} of {len(sources)} recordings written down")
    if bad:
        raise typer.Exit(BadInput.exit_code)


async def _transcribe(
    settings: Settings, sources: list[Source | Missing], options: Options, jobs: int, *, own: bool, as_json: bool
) -> int:
    bad = 0
    order = Order(TRANSCRIPTS, options, jobs=jobs)
    with progress() as bars:
        async with (
            recogniser(settings, own=own) as found,
            aclosing(outcomes(found, sources, order, _crew, bars)) as results,
        ):
            async for outcome in results:
                bad += bool(outcome.error)
                _print(outcome, as_json=as_json, heading=len(sources) > 1)
    return bad


def _crew(bus: Bus, settings: Settings) -> list[Stage]:
    return [stage("asr", bus, settings)]


def _print(outcome: Outcome, *, as_json: bool, heading: bool) -> None:
    if as_json:
        typer.echo(json.dumps(document(outcome), ensure_ascii=False))
        return
    if heading:
        console.print(f"[bold]{escape(outcome.file)}[/]")
    for warning in outcome.warnings:
        warn(f"{outcome.file}: {warning}")
    for said in outcome.said:
        console.print(
            f"[dim]{clock(said.start_ms):>7}[/]  [cyan]{escape(said.role)}[/]  {escape(said.text)}", soft_wrap=True
        )
    if outcome.error:
        named_already = outcome.file in outcome.error
        complain(outcome.error if named_already else f"{outcome.file}: {outcome.error}", outcome.hint)
    elif not outcome.said:
        console.print("[dim](nothing was said)[/]")
