"""`tenor dashboard`: the pages, for a browser."""

from __future__ import annotations

import asyncio
import webbrowser
from typing import Annotated

import typer

from tenor.bus.opening import open_bus
from tenor.cli.context import run_until_interrupted, settings
from tenor.cli.output import say
from tenor.cli.params import BusFlag
from tenor.runtime.model_tools import model_tools
from tenor.runtime.redactor import make_redactor
from tenor.settings import Settings
from tenor.stage import run_stages


def dashboard(
    context: typer.Context,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port of the pages (default 8501); 0 takes a free one.")
    ] = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on; default: this machine only.")] = None,
    browser: Annotated[bool, typer.Option("--open/--no-browser", help="Open a browser.")] = False,
    bus: BusFlag = None,
) -> None:
    """Serve the pages for agents, managers and analysts, and the HTTP API.

    Needs the other stages only for what is new: `tenor serve` beside it, or `tenor demo` for everything at once.
    """
    chosen = settings(context, stays=True, dashboard__port=port, dashboard__host=host, bus__url=bus)
    run_until_interrupted(_dashboard(chosen, browser=browser))


async def _dashboard(settings: Settings, *, browser: bool) -> None:
    from dashboard.app import Dashboard

    async with open_bus(settings) as bus:
        stage = Dashboard(bus, settings, redactor=make_redactor(settings), tools=model_tools(settings))

        async def announce() -> None:
            await stage.ready.wait()
            say(f"the dashboard is on {stage.address}  [dim](Ctrl-C ends)[/]")
            if browser:
                await asyncio.to_thread(webbrowser.open, stage.address)

        announcing = asyncio.create_task(announce())
        try:
            await run_stages([stage])
        finally:
            announcing.cancel()
