"""`tenor watch`: live calls in the terminal."""

from __future__ import annotations

import json

import msgspec
import typer
from rich.markup import escape

from tenor.bus.opening import open_bus
from tenor.cli.context import run_until_interrupted, settings
from tenor.cli.live_view import LiveView
from tenor.cli.output import say
from tenor.events import CALLS, TRANSCRIPTS, Unreadable
from tenor.runtime.profiles import QUIET
from tenor.secret_values import address_shown
from tenor.settings import Settings


def watch(
    context: typer.Context,
    call: str = typer.Option("", "--call", metavar="ID", help="Show only this call."),
    from_start: bool = typer.Option(False, "--from-start", help="Begin with what the bus still holds."),
    as_json: bool = typer.Option(False, "--json", help="Events as JSON lines, interim text included."),
    bus: str | None = typer.Option(None, "--bus", metavar="URL", help="kafka://host:9092 or sqlite:///path."),
) -> None:
    """Watch live calls in the terminal. Text that may still change is grey. Ctrl-C ends."""
    run_until_interrupted(_watch(settings(context, unless_set=QUIET, bus__url=bus), call, from_start, as_json))


async def _watch(settings: Settings, call: str, from_start: bool, as_json: bool) -> None:
    async with open_bus(settings) as bus, bus.follower([TRANSCRIPTS, CALLS], from_start=from_start) as follower:
        if not as_json:
            say(f"[dim]watching {escape(address_shown(settings.bus_url))}; Ctrl-C ends[/]")
        with LiveView(plain=as_json) as view:
            while True:
                for record in await follower.poll():
                    if call and record.key != call:
                        continue
                    topic = TRANSCRIPTS if record.topic == TRANSCRIPTS.name else CALLS
                    try:
                        event = topic.decode(record.value)
                    except Unreadable:
                        continue  # the stage that reads this topic for work reports it on tenor.dead
                    if as_json:
                        typer.echo(json.dumps(msgspec.to_builtins(event), ensure_ascii=False))
                    else:
                        view.show(event)
                view.refresh()
