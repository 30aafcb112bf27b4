"""`tenor import`: calls that another installation exported, and vCons of other programs."""

from __future__ import annotations

import tempfile
from collections import Counter
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tenor.cli.context import run, settings, user_name
from tenor.cli.output import SameFaults, console, progress, warn
from tenor.cli.params import Agents, RedactFlag, options_from_flags
from tenor.cli.progress_view import BatchBars
from tenor.errors import BadInput
from tenor.runtime.profiles import EVERY_CORE, PATIENT, QUIET

if TYPE_CHECKING:
    from ingest.options import IngestOptions
    from ingest.vcon.call import VconCall
    from storage.db.engine import Database
    from storage.transfer import importer
    from storage.transfer.importer import FoundDocument, ImportResult
    from tenor.settings import Settings

SHOWN = {"imported": "imported", "replaced": "replaced", "unchanged": "here already, the same"}
LEFT = {"conflict": "left as they were", "erased": "erased here before", "refused": "not readable"}


def import_calls(
    context: typer.Context,
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH", help="JSON (also as lines) or vCon files, zips, folders.")
    ],
    replace: bool = typer.Option(False, "--replace", help="Take the new one where a call is here and differs."),
    agents: Agents = "",
    redact: RedactFlag = None,
    riva: Annotated[
        str | None,
        typer.Option("--riva", metavar="HOST:PORT", help="Who recognises recordings (default: a server on this CPU)."),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, max=100, help="Recordings recognised at once.")] = 4,
) -> None:
    """Bring in calls that `tenor export` wrote as JSON or vCon, and vCons of other programs.

    What other programs recorded or wrote down is understood as `tenor analyze --store` does it; recordings without a
    transcript are recognised. Doing it again changes nothing. A call that is here already and differs is left as it is
    and reported. If that happened, or if a file cannot be read, the command exits with 1. Calls that were erased here
    do not come back.
    """
    from storage.transfer import importer

    chosen = settings(context, unless_set=QUIET | PATIENT | EVERY_CORE)
    # First of all, so that a slip in a path is told before anything was done.
    files = [file for path in paths for file in importer.files(path)]
    with tempfile.TemporaryDirectory(prefix="tenor-") as scratch:
        work = _Import(
            chosen,
            options_from_flags(chosen, roles=None, channels=None, redact=redact),
            Path(scratch),
            tuple(agents.split(",")),
            replace=replace,
        )
        work.read(files)
        if work.to_understand:
            run(work.understand(riva, jobs))
    work.faults.tell_rest()
    told = [f"{work.outcomes[outcome]} {words}" for outcome, words in (SHOWN | LEFT).items() if work.outcomes[outcome]]
    console.print(", ".join(told) or "nothing to import")
    if any(work.outcomes[outcome] for outcome in LEFT):
        raise typer.Exit(1)


class _Import:
    def __init__(
        self, settings: Settings, options: IngestOptions, scratch: Path, agents: tuple[str, ...], *, replace: bool
    ) -> None:
        self._settings, self._options, self._scratch = settings, options, scratch
        self._agents, self._replace = agents, replace
        self.outcomes: Counter[str] = Counter()
        self.faults = SameFaults()
        self.to_understand: dict[str, VconCall] = {}
        """Of other programs, by the id of the call."""

    def read(self, files: list[Path]) -> None:
        """Bring in what is a call of Tenor; the others wait until all files are read."""
        from storage.db.engine import using
        from storage.transfer import importer

        with using(self._settings) as database, progress() as bar:
            task = bar.add_task("importing", total=len(files), detail="")
            for path in files:
                try:
                    for document in importer.documents(path):
                        self._take(database, document)
                except BadInput as error:  # the rest of a zip that is broken is left alone
                    self._refuse(error, str(path))
                done = sum(self.outcomes.values()) + len(self.to_understand)
                bar.update(task, advance=1, detail=f"{done}")

    async def understand(self, riva: str | None, jobs: int) -> None:
        """Those with a transcript first: they need no recogniser, and nobody waits for one because of them."""
        from tenor.runtime import analyze_async

        written = [call for call in self.to_understand.values() if not call.to_recognize]
        recorded = [call for call in self.to_understand.values() if call.to_recognize]
        for calls in filter(None, (written, recorded)):
            with progress() as bars:
                batch = analyze_async(
                    (),
                    self._settings,
                    vcons=calls,
                    options=self._options,
                    riva=riva,
                    jobs=jobs,
                    store=True,
                    again=True,  # whether one is here already was looked up
                    progress=BatchBars(bars).show,
                )
                async with aclosing(batch) as results:
                    async for result in results:
                        if result.error:
                            self._refuse(
                                BadInput(f"{result.file}: {result.error.message}", result.error.hint), result.file
                            )
                            continue
                        for notice in result.notices():
                            warn(f"{result.file}: {notice}")
                        self.outcomes["imported"] += 1

    def _take(self, database: Database, document: FoundDocument) -> None:
        from storage.transfer import importer

        try:
            found = importer.read_any(document)
            if isinstance(found, importer.OthersVcon):
                self._queue(database, document, found)
                return
            self._count(
                document.place,
                importer.store(database, self._settings, found, by=user_name(), replace=self._replace),
            )
        except BadInput as error:
            self._refuse(error, document.place)

    def _queue(self, database: Database, document: FoundDocument, found: importer.OthersVcon) -> None:
        from ingest.vcon.call import VconCall
        from storage.transfer import importer

        folder = Path(tempfile.mkdtemp(dir=self._scratch))
        call = VconCall(
            found.given,
            document.place,
            folder,
            self._options,
            folder=document.folder,
            agents=self._agents,
            signed=found.signed,
        )
        if (before := self.to_understand.get(call.call)) is not None:
            if before.digest == call.digest:
                self.outcomes["unchanged"] += 1
            else:
                result = importer.ImportResult(call.call, "conflict", f"it is in {before.name}, too, and differs")
                self._count(document.place, result)
            return
        known = importer.known(database, self._settings, call.call, call.digest, replace=self._replace)
        if known is not None:
            self._count(document.place, known)
        else:
            self.to_understand[call.call] = call

    def _count(self, place: str, result: ImportResult) -> None:
        self.outcomes[result.outcome] += 1
        if result.detail:
            warn(f"{place}: call {result.call}: {result.detail}")

    def _refuse(self, error: BadInput, place: str) -> None:
        self.outcomes["refused"] += 1
        self.faults.tell(error, place)
