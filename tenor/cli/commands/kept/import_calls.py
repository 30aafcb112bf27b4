"""`tenor import`: calls that another installation exported."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tenor.cli.context import settings, user_name
from tenor.cli.output import SameFaults, console, progress, warn
from tenor.errors import BadInput

if TYPE_CHECKING:
    from storage.db.engine import Database
    from storage.transfer.importer import FoundDocument
    from tenor.settings import Settings

SHOWN = {"imported": "imported", "replaced": "replaced", "unchanged": "here already, the same"}


def import_calls(
    context: typer.Context,
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH", help="JSON (also as lines) or vCon files, zips, folders.")
    ],
    replace: bool = typer.Option(False, "--replace", help="Take the new one where a call is here and differs."),
) -> None:
    """Bring in calls that `tenor export` wrote as JSON or vCon. Doing it again changes nothing.

    A call that is here already and differs is left as it is and reported. If that happened, or if a file cannot be
    read, the command exits with 1. Calls that were erased here do not come back.
    """
    from storage.db.engine import using
    from storage.transfer import importer

    given = settings(context)
    # First of all, so that a slip in a path is told before anything was done.
    files = [file for path in paths for file in importer.files(path)]
    outcomes: Counter[str] = Counter()
    faults = SameFaults()
    with using(given) as database, progress() as bar:
        task = bar.add_task("importing", total=len(files), detail="")
        for path in files:
            try:
                for document in importer.documents(path):
                    _bring_in(database, given, document, replace, outcomes, faults)
            except BadInput as error:  # the rest of a zip that is broken is left alone
                outcomes["refused"] += 1
                faults.tell(error, str(path))
            bar.update(task, advance=1, detail=f"{sum(outcomes.values())}")
    faults.tell_rest()
    told = [f"{outcomes[outcome]} {words}" for outcome, words in SHOWN.items() if outcomes[outcome]]
    left = {"conflict": "left as they were", "erased": "erased here before", "refused": "not readable"}
    told += [f"{outcomes[outcome]} {words}" for outcome, words in left.items() if outcomes[outcome]]
    console.print(", ".join(told) or "nothing to import")
    if any(outcomes[outcome] for outcome in left):
        raise typer.Exit(1)


def _bring_in(
    database: Database,
    given: Settings,
    document: FoundDocument,
    replace: bool,
    outcomes: Counter[str],
    faults: SameFaults,
) -> None:
    from storage.transfer import importer

    try:
        result = importer.store(database, given, importer.read(document), by=user_name(), replace=replace)
    except BadInput as error:
        outcomes["refused"] += 1
        faults.tell(error, document.place)
        return
    outcomes[result.outcome] += 1
    if result.detail:
        warn(f"{document.place}: call {result.call}: {result.detail}")
