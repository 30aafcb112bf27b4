"""`tenor serve`: the stages of the pipeline, all or some, in one process."""

from __future__ import annotations

import typer

from tenor import runtime
from tenor.cli.context import Context, run_until_interrupted, settings
from tenor.cli.output import warn
from tenor.runtime.stages import STAGES, check

NAMES = f"{', '.join(STAGES)}; all by default."


def serve(
    context: typer.Context,
    stages: list[str] | None = typer.Argument(None, metavar="STAGE", help=NAMES),
    bus: str | None = typer.Option(None, "--bus", metavar="URL", help="kafka://host:9092 or sqlite:///path."),
    speech: str | None = typer.Option(None, "--riva", metavar="HOST:PORT", help="Address of the recogniser."),
) -> None:
    """Run the pipeline's stages until Ctrl-C or SIGTERM.

    Start as many processes as you like, on as many machines as share a Kafka: they divide the calls among
    themselves, and take over from one that dies.

    Without names, and where no setting says where a recogniser is, it starts one on this machine if none answers.
    """
    names = stages or list(STAGES)
    check(names)
    given: Context = context.obj
    own = not stages and speech is None and given.loaded().origins["speech.address"] == "default"
    chosen = settings(context, stays=True, bus__url=bus, speech__address=speech)
    run_until_interrupted(runtime.serve(names, chosen, signals=True, warn=warn, own_recognizer=own))
