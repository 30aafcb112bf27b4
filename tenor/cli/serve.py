"""`tenor serve`: the stages of the pipeline, all or some, in one process."""

from __future__ import annotations

from collections.abc import Callable

import typer

from tenor.bus import Bus
from tenor.bus.opening import open_bus
from tenor.cli.context import run, settings
from tenor.cli.output import warn
from tenor.cli.pipeline import recogniser_models
from tenor.errors import BadInput, TenorError
from tenor.settings import Settings
from tenor.stage import Stage, run_stages


def _gateway(bus: Bus, settings: Settings) -> Stage:
    from ingest.gateway import Gateway

    return Gateway(bus, settings)


def _asr(bus: Bus, settings: Settings) -> Stage:
    from asr.worker import Worker

    return Worker(bus, settings)


def _dashboard(bus: Bus, settings: Settings) -> Stage:
    from dashboard.app import Dashboard

    return Dashboard(bus, settings)


STAGES: dict[str, Callable[[Bus, Settings], Stage]] = {"gateway": _gateway, "asr": _asr, "dashboard": _dashboard}


def serve(
    context: typer.Context,
    stages: list[str] | None = typer.Argument(
        None, metavar="[STAGE]...", help="gateway, asr, dashboard; all by default."
    ),
    bus: str | None = typer.Option(None, "--bus", metavar="URL", help="kafka://host:9092 or sqlite:///path."),
    speech: str | None = typer.Option(None, "--riva", metavar="HOST:PORT", help="Default: localhost:50051."),
) -> None:
    """Run the pipeline's stages until Ctrl-C or SIGTERM.

    Start as many processes as you like, on as many machines as share a Kafka: they divide the calls among
    themselves, and take over from one that dies.
    """
    names = stages or list(STAGES)
    unknown = [name for name in names if name not in STAGES]
    if unknown:
        raise BadInput(f"there is no stage {unknown[0]!r}", f"stages: {', '.join(STAGES)}")
    run(_serve(settings(context, bus__url=bus, speech__address=speech), list(dict.fromkeys(names))))


async def _serve(settings: Settings, names: list[str]) -> None:
    async with open_bus(settings) as bus:
        if "asr" in names:
            try:
                await recogniser_models(settings.speech)
            except TenorError as error:
                warn(f"{error.message}; calls wait on the bus until there is one ({error.hint})")
        await run_stages([STAGES[name](bus, settings) for name in names])
