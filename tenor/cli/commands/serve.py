"""`tenor serve`: the stages of the pipeline, all or some, in one process."""

from __future__ import annotations

import typer

from tenor.bus.opening import open_bus
from tenor.cli.context import run, settings
from tenor.cli.output import warn
from tenor.cli.pipeline import recogniser_models
from tenor.cli.stages import STAGES, check, stage
from tenor.errors import TenorError
from tenor.settings import Settings
from tenor.stage import run_stages

NAMES = f"{', '.join(STAGES)}; all by default."


def serve(
    context: typer.Context,
    stages: list[str] | None = typer.Argument(None, metavar="[STAGE]...", help=NAMES),
    bus: str | None = typer.Option(None, "--bus", metavar="URL", help="kafka://host:9092 or sqlite:///path."),
    speech: str | None = typer.Option(None, "--riva", metavar="HOST:PORT", help="Default: localhost:50051."),
) -> None:
    """Run the pipeline's stages until Ctrl-C or SIGTERM.

    Start as many processes as you like, on as many machines as share a Kafka: they divide the calls among
    themselves, and take over from one that dies.
    """
    names = stages or list(STAGES)
    check(names)
    run(_serve(settings(context, stays=True, bus__url=bus, speech__address=speech), list(dict.fromkeys(names))))


async def _serve(settings: Settings, names: list[str]) -> None:
    async with open_bus(settings) as bus:
        if "asr" in names:
            try:
                await recogniser_models(settings.speech)
            except TenorError as error:
                warn(f"{error.message}; calls wait on the bus until there is one ({error.hint})")
        await run_stages([stage(name, bus, settings) for name in names])
