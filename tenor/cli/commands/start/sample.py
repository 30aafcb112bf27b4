"""`tenor sample`: weeks of generated history, so that every page has something to show."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from tenor.cli.context import settings
from tenor.cli.output import say

app = typer.Typer(
    help="Made-up past calls, so that every page has something to show.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command()
def add(
    context: typer.Context,
    weeks: Annotated[int, typer.Option("--weeks", min=1, max=52, help="How far back it reaches.")] = 8,
) -> None:
    """Add made-up calls of the past weeks, marked as such. What is there already stays as it is."""
    from storage import sample as history
    from storage.db.engine import using

    with using(settings(context)) as database:
        began = time.monotonic()
        added = history.add(database, weeks)
    if added.calls:
        took = time.monotonic() - began
        say(f"{added.calls} sample calls with {added.sentences} sentences added in {took:.1f} s")
        say("[dim]`tenor sample remove` takes all of it away[/]")
    else:
        say("the sample calls are there already")


@app.command()
def remove(context: typer.Context) -> None:
    """Take all of the generated history and the demo's calls away, and nothing else."""
    from storage import sample as history
    from storage.db.engine import using
    from storage.recorder.store import RecordingStore

    chosen = settings(context)
    with using(chosen) as database:
        gone = history.remove(database, RecordingStore(chosen))
    say(f"{gone} sample calls removed" if gone else "there are no sample calls")
