"""`tenor demo`: everything on this machine, with sample calls playing."""

from __future__ import annotations

import asyncio
import sys
import webbrowser
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tenor.bus import Record
from tenor.cli.context import Context, run_until_interrupted, settings
from tenor.cli.live_view import LiveView
from tenor.cli.output import console, say
from tenor.cli.params import BusFlag, parse_redact
from tenor.errors import BadInput, Unavailable
from tenor.events import CALLS, TRANSCRIPTS, CallState, Redact
from tenor.runtime import pipeline
from tenor.runtime.call_player import CallPlayer
from tenor.runtime.profiles import QUIET, change_settings
from tenor.settings import Settings
from tenor.web.servers import free_port

if TYPE_CHECKING:
    from ingest.sources import Source

SAMPLES = Path(__file__).parents[4] / "examples" / "calls"
STAGES = ("gateway", "asr", "language", "assistant", "webhooks", "storage", "recordings")
DASHBOARD_S = 60.0
"""How long the pages may take to come up on a slow machine."""


def demo(
    context: typer.Context,
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="PATH", help="Your own recordings instead of the sample calls.")
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Play each call once, then end.")] = False,
    at_once: Annotated[
        int, typer.Option("--calls", min=1, max=100, help="How many calls are live at the same time.")
    ] = 3,
    redact: Annotated[str, typer.Option(metavar="off|text|audio", help="Remove card and phone numbers.")] = "audio",
    terminal: Annotated[
        bool, typer.Option("--terminal", help="Show the calls in this terminal, without the dashboard.")
    ] = False,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port of the dashboard (default 8501).")] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser.")] = True,
    history: Annotated[bool, typer.Option("--history/--no-history", help="Add weeks of made-up past calls.")] = True,
    bus: BusFlag = None,
) -> None:
    """Play sample calls in real time and show them on the dashboard with sentiment and intent.

    Nothing is downloaded, everything is kept under the home folder, and Ctrl-C ends all of it. `tenor sample remove`
    takes the made-up calls away again.
    """
    from ingest.sources import expand

    chosen = settings(context, unless_set=QUIET, stays=True, bus__url=bus, dashboard__port=port)
    if not paths and not SAMPLES.is_dir():
        raise BadInput("the sample calls are not here: they come with the repository", "tenor demo RECORDING...")
    sources = expand(paths or [str(SAMPLES)])
    given: Context = context.obj
    ports = _gateway_ports(chosen)
    chosen = change_settings(chosen, gateway=ports)
    given_ports = {f"gateway__{name}": number for name, number in ports.items()}
    arguments = given.arguments(bus__url=bus, dashboard__port=port, telemetry__metrics_port=0, **given_ports)
    command = [] if terminal else [*arguments, "dashboard"]
    show = DemoRun(chosen, sources, at_once, parse_redact(redact), once=once, sample=not paths)
    run_until_interrupted(show.run(command, browser=browser, history=history and not terminal))


class DemoRun:
    """The sample calls on stage, with the pages or the terminal to watch them in."""

    def __init__(
        self, settings: Settings, sources: list[Source], at_once: int, redact: Redact, *, once: bool, sample: bool
    ) -> None:
        self._settings, self._sources, self._at_once, self._redact = settings, sources, at_once, redact
        self._once, self._sample = once, sample

    async def run(self, dashboard: Sequence[str], *, browser: bool, history: bool) -> None:
        async with AsyncExitStack() as stack:
            if history:
                say("[dim]writing weeks of made-up calls, so that every page has something to show ...[/]")
                await asyncio.to_thread(_add_history, self._settings)
            if dashboard:
                address = await stack.enter_async_context(_dashboard(dashboard))
            say("[dim]loading the speech models ...[/]")
            bus = await stack.enter_async_context(pipeline(self._settings, STAGES, own_recognizer=True))
            if dashboard:
                say(f"\n  [bold]{address}[/]  shows the calls as they are spoken")
                say(f"  [bold]{address}/assistant[/]  is where shoppers talk to the assistant\n")
                if browser:
                    await asyncio.to_thread(webbrowser.open, address)
            say(f"[dim]{len(self._sources)} calls, {self._at_once} at a time, in real time; Ctrl-C ends[/]\n")
            player = CallPlayer(bus, self._settings, self._sources, self._redact, sample=self._sample)
            async with bus.follower([TRANSCRIPTS, CALLS]) as follower, asyncio.TaskGroup() as group:
                playing = group.create_task(player.play(self._at_once, once=self._once))
                with _view(wanted=not dashboard) as view:
                    while not (playing.done() and player.over):
                        for record in await follower.poll(timeout_s=0.1):
                            self._follow(player, record, view)
                        if view:
                            view.refresh()

    def _follow(self, player: CallPlayer, record: Record, view: LiveView | None) -> None:
        event = (TRANSCRIPTS if record.topic == TRANSCRIPTS.name else CALLS).decode(record.value)
        if not player.played(event.call):
            return
        if view:
            view.show(event)
        if isinstance(event, CallState):
            player.follow(event)


def _gateway_ports(settings: Settings) -> dict[str, int]:
    """Those of the settings, or free ones where something else has them: the demo shall start beside a pipeline. The
    pages run in a process of their own and have to know."""
    gateway = settings.gateway
    wanted = {"port": gateway.port, "audiosocket_port": gateway.audiosocket_port}
    return {name: free_port(gateway.host, number) for name, number in wanted.items()}


@contextmanager
def _view(*, wanted: bool) -> Iterator[LiveView | None]:
    """The terminal's view of the calls, with a word on the delay at the end."""
    if not wanted:
        yield None
        return
    view = LiveView()
    try:
        with view:
            yield view
    finally:
        if view.finals:
            console.print(
                f"\n{view.finals} utterances; from the end of speech to the text: "
                f"half within {view.delay(0.5):.1f} s, 95 % within {view.delay(0.95):.1f} s"
            )


def _add_history(settings: Settings) -> None:
    from storage import sample
    from storage.db.engine import open_database

    database = open_database(settings)
    try:
        sample.add(database)
    finally:
        database.close()


@asynccontextmanager
async def _dashboard(arguments: Sequence[str]) -> AsyncIterator[str]:
    """The dashboard in a process of its own, so that pages and speech do not wait for each other. Its address."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tenor", *arguments, stderr=asyncio.subprocess.PIPE, start_new_session=True
    )
    assert process.stderr is not None
    try:
        try:
            address = await asyncio.wait_for(_announced(process.stderr), DASHBOARD_S)
        except TimeoutError:
            raise Unavailable("the dashboard does not come up", "try `tenor dashboard` to see why") from None
        async with asyncio.TaskGroup() as group:
            passing_on = group.create_task(_pass_on(process.stderr))
            yield address
            passing_on.cancel()
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _announced(said: asyncio.StreamReader) -> str:
    """The address, from the line with which it says that it is there."""
    lines = []
    async for line in said:
        lines.append(line.decode())
        for word in lines[-1].split():
            if word.startswith("http://"):
                return word
    raise Unavailable(f"the dashboard did not start: {' '.join(''.join(lines).split())}")


async def _pass_on(said: asyncio.StreamReader) -> None:
    async for line in said:
        sys.stderr.buffer.write(line)
        sys.stderr.flush()
