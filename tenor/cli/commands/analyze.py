"""`tenor analyze`: recordings, chats and e-mails in; sentiment, intents, figures and alerts out, in one process."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack, aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tenor.bus import Bus
from tenor.cli.batch import Order, outcomes
from tenor.cli.context import EVERY_CORE, QUIET, run, settings
from tenor.cli.findings import document, show
from tenor.cli.flags import (
    Agents,
    Channels,
    ConversationColumn,
    Encoding,
    Folders,
    FormFlag,
    Language,
    MediumFlag,
    Missing,
    Paths,
    RedactFlag,
    Roles,
    SpeakerColumn,
    Swap,
    TextColumn,
    TimeColumn,
    named,
    readable,
    reading,
    recording_options,
)
from tenor.cli.output import errors, progress
from tenor.cli.pipeline import changed
from tenor.cli.redactor import redactor
from tenor.cli.shift import recogniser
from tenor.cli.stages import stage
from tenor.cli.transcribe import PATIENT
from tenor.errors import BadInput
from tenor.events import SENTENCES
from tenor.settings import Settings
from tenor.stage import Stage

if TYPE_CHECKING:
    from ingest.options import Options
    from ingest.sources import Source
    from ingest.text.conversation import Reading
    from tenor.cli.keeping import Keeping


def analyze(
    context: typer.Context,
    paths: Paths,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document a call, one a line.")] = False,
    store: Annotated[bool, typer.Option("--store", help="Keep the calls in the database, for the pages.")] = False,
    again: Annotated[bool, typer.Option("--again", help="With --store: also those that are there already.")] = False,
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
    rules: Annotated[
        Path | None, typer.Option("--rules", metavar="FILE", help="Rules to watch for, in place of ours.")
    ] = None,
    intents: Annotated[
        Path | None, typer.Option("--intents", metavar="FILE", help="Intents to tell apart, in place of ours.")
    ] = None,
    model: Annotated[
        Path | None, typer.Option("--model", metavar="FOLDER", help="Another model; heads it lacks are ours.")
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
    """Understand recordings, chats and e-mails: how each sentence feels, what is wanted, and how the call went.

    Text is TXT, CSV, JSON, JSON lines, EML or mbox. A file that cannot be read is told in one line, the rest go on;
    then the exit code is 2.
    """
    if again and not store:
        raise BadInput("--again replaces what --store kept", "give both")
    chosen = settings(
        context,
        unless_set=QUIET | PATIENT | EVERY_CORE,
        speech__address=riva,
        speech__interim=False,
        language__rules=rules and str(rules),
        language__intents=intents and str(intents),
        language__model=model and str(model),
    )
    options = recording_options(
        chosen,
        roles=roles,
        channels=channels,
        redact=redact,
        language=language,
        swap=swap,
        agent=agent,
        customer=customer,
        site=site,
        queue=queue,
    )
    chosen = changed(chosen, ingest={"roles": list(options.roles)})  # rules may name them
    how = reading(form, medium, encoding, text_column, speaker_column, time_column, conversation_column, agents)
    sources = named(paths, readable(), folders=folders)
    work = Analysis(chosen, sources, options, how, jobs=jobs, own=riva is None, as_json=as_json)
    done, bad, kept = run(work.run(_keeping(chosen, again=again) if store else None))
    if done > 1 and not as_json:
        there = f", {kept} of them in the database already" if kept else ""
        errors.print(f"{done - bad} of {done} calls understood{there}")
    if bad:
        raise typer.Exit(BadInput.exit_code)


def _keeping(settings: Settings, *, again: bool) -> Keeping:
    from tenor.cli.keeping import Keeping  # with a database behind it, which few runs need

    return Keeping(settings, again=again)


class Analysis:
    """One run of the command."""

    def __init__(
        self,
        settings: Settings,
        sources: list[Source | Missing],
        options: Options,
        reading: Reading,
        *,
        jobs: int,
        own: bool,
        as_json: bool,
    ) -> None:
        from ingest.text.conversation import form_of

        self._settings, self._sources, self._options, self._reading = settings, sources, options, reading
        self._jobs, self._own, self._as_json = jobs, own, as_json
        self._spoken = any(
            not isinstance(source, Missing) and not (reading.form or form_of(source)) for source in sources
        )
        """Whether there is anything to hear: chats need no recogniser."""

    async def run(self, keeping: Keeping | None) -> tuple[int, int, int]:
        """How many calls there were, how many of them failed, and how many were there already."""
        from nlp.backend import open_backend
        from nlp.worker import LanguageWorker

        backend = await asyncio.to_thread(open_backend, self._settings)
        order = Order(
            SENTENCES,
            self._options,
            self._reading,
            redactor(self._settings),
            self._jobs,
            find=keeping.find if keeping else None,
            keep=keeping.keep if keeping else None,
            settle=keeping.settle if keeping else None,
        )

        def crew(bus: Bus, settings: Settings) -> list[Stage]:
            stages: list[Stage] = [LanguageWorker(bus, settings, backend)]
            stages += [stage("asr", bus, settings)] if self._spoken else []
            return [*stages, *(keeping.stages(bus, settings) if keeping else ())]

        done = bad = kept = 0
        async with AsyncExitStack() as stack:
            if keeping:
                stack.push_async_callback(keeping.close)  # interrupted, too
            bars = stack.enter_context(progress())
            found = self._settings
            if self._spoken:
                found = await stack.enter_async_context(recogniser(found, own=self._own))
            results = await stack.enter_async_context(
                aclosing(outcomes(found, self._sources, order, crew, bars)),
            )
            async for outcome in results:
                done, bad, kept = done + 1, bad + bool(outcome.error), kept + outcome.kept
                if self._as_json:
                    typer.echo(json.dumps(document(outcome), ensure_ascii=False))
                else:
                    several = len(self._sources) > 1 or not outcome.last or done > 1
                    show(outcome, heading=several)
        return done, bad, kept
