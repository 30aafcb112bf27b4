"""`tenor analyze`: recordings, chats and e-mails in; sentiment, intents, figures and alerts out, in one process."""

from __future__ import annotations

import json
from contextlib import aclosing
from pathlib import Path
from typing import Annotated

import typer

from ingest.options import IngestOptions
from ingest.text.conversation import TextOptions
from tenor.cli.analysis_view import show
from tenor.cli.context import run, settings
from tenor.cli.output import errors, progress
from tenor.cli.params import (
    Agents,
    Channels,
    ConversationColumn,
    Encoding,
    Folders,
    FormFlag,
    Language,
    MediumFlag,
    Paths,
    RedactFlag,
    Roles,
    SpeakerColumn,
    Speakers,
    Swap,
    TextColumn,
    TimeColumn,
    options_from_flags,
    reading_from_flags,
)
from tenor.cli.progress_view import BatchBars
from tenor.errors import BadInput
from tenor.runtime import analysis_document, analyze_async, find_inputs
from tenor.runtime.batch.inputs import Input
from tenor.runtime.profiles import EVERY_CORE, PATIENT, QUIET
from tenor.settings import Settings


def analyze(
    context: typer.Context,
    paths: Paths,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document per call, each on one line.")
    ] = False,
    store: Annotated[bool, typer.Option("--store", help="Keep the calls in the database, for the pages.")] = False,
    again: Annotated[
        bool, typer.Option("--again", help="With --store: analyze again the calls that are there already.")
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
    rules: Annotated[
        Path | None,
        typer.Option("--rules", metavar="FILE", help="Rules that raise alerts, instead of those that ship."),
    ] = None,
    intents: Annotated[
        Path | None,
        typer.Option("--intents", metavar="FILE", help="Intents to choose from, instead of those that ship."),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option("--model", metavar="FOLDER", help="Your model; the shipped one answers what it does not."),
    ] = None,
    agent: Annotated[str, typer.Option(help="Account name of the agent.")] = "",
    customer: Annotated[str, typer.Option(help="Customer id or number.")] = "",
    site: Annotated[str | None, typer.Option(help="Site tag.")] = None,
    queue: Annotated[str | None, typer.Option(help="Queue tag.")] = None,
    form: FormFlag = None,
    medium: MediumFlag = None,
    encoding: Encoding = "",
    text_column: TextColumn = "",
    speaker_column: SpeakerColumn = "",
    time_column: TimeColumn = "",
    conversation_column: ConversationColumn = "",
    agents: Agents = "",
) -> None:
    """Analyze recordings, chats and e-mails: sentiment and intent of each sentence, metrics and alerts of each call.

    Text is TXT, CSV, JSON, JSON lines, EML or mbox. A file that cannot be read is reported in one line and the others
    go on; the exit code is then 2.
    """
    if again and not store:
        raise BadInput("--again replaces what --store kept", "give both")
    chosen = settings(
        context,
        unless_set=QUIET | PATIENT | EVERY_CORE,
        language__rules=rules and str(rules),
        language__intents=intents and str(intents),
        language__model=model and str(model),
    )
    options = options_from_flags(
        chosen,
        roles=roles,
        speakers=speakers,
        channels=channels,
        redact=redact,
        language=language,
        swap=swap,
        agent=agent,
        customer=customer,
        site=site,
        queue=queue,
    )
    how = reading_from_flags(
        form, medium, encoding, text_column, speaker_column, time_column, conversation_column, agents
    )
    inputs = find_inputs(paths, folders=folders)
    work = _analyze(chosen, inputs, options, how, riva=riva, jobs=jobs, store=store, again=again, as_json=as_json)
    done, bad, stored = run(work)
    if done > 1 and not as_json:
        there = f", {stored} of them in the database already" if stored else ""
        errors.print(f"{done - bad} of {done} calls understood{there}")
    if bad:
        raise typer.Exit(BadInput.exit_code)


async def _analyze(
    settings: Settings,
    inputs: list[Input],
    options: IngestOptions,
    reading: TextOptions,
    *,
    riva: str | None,
    jobs: int,
    store: bool,
    again: bool,
    as_json: bool,
) -> tuple[int, int, int]:
    """How many calls there were, how many of them failed, and how many were stored already."""
    done = bad = stored = 0
    with progress() as bars:
        batch = analyze_async(
            inputs,
            settings,
            options=options,
            reading=reading,
            riva=riva,
            jobs=jobs,
            store=store,
            again=again,
            progress=BatchBars(bars).show,
        )
        async with aclosing(batch) as results:
            async for result in results:
                done, bad, stored = done + 1, bad + bool(result.error), stored + result.already_stored
                if as_json:
                    typer.echo(json.dumps(analysis_document(result), ensure_ascii=False))
                else:
                    show(result, heading=len(inputs) > 1 or not result.last_of_file or done > 1)
    return done, bad, stored
