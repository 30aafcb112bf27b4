"""`tenor assistant chat`: talk to the assistant in the terminal, or one JSON line per turn for programs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import msgspec
import typer
from rich.markup import escape

from tenor.cli.context import run, settings
from tenor.cli.output import console
from tenor.errors import BadInput

if TYPE_CHECKING:
    from dialog.chat import Chat, ChatTurn


def chat(
    context: typer.Context,
    as_json: Annotated[
        bool, typer.Option("--json", help="Read one line per turn, answer with one JSON line per turn.")
    ] = False,
    at: Annotated[
        str, typer.Option("--at", metavar="TIME", help="The clock, e.g. 2026-11-18T10:00 (default: now).")
    ] = "",
    provider: Annotated[
        str, typer.Option("--provider", metavar="NAME", help="Who answers questions (default: as the settings say).")
    ] = "",
    flows: Annotated[
        Path | None, typer.Option("--flows", metavar="FOLDER", help="Another assistant than the one that ships.")
    ] = None,
) -> None:
    """Talk to the assistant in text. Ends with the input, or with Ctrl-C."""
    from tenor.runtime.assistant.assistant import Assistant

    given = settings(context)
    moment = _moment(at)
    assistant = Assistant.load(given, flows=flows, provider=provider)
    conversation = assistant.chat(clock=(lambda: moment) if moment is not None else datetime.now)
    try:
        run(_played(conversation) if as_json else _talked(conversation))
    except KeyboardInterrupt:
        raise typer.Exit from None


def _moment(at: str) -> datetime | None:
    if not at:
        return None
    try:
        return datetime.fromisoformat(at)
    except ValueError:
        raise BadInput(f"--at takes a time, not {at!r}", "e.g. --at 2026-11-18T10:00") from None


async def _played(conversation: Chat) -> None:
    _write(await conversation.start())
    for line in _lines(sys.stdin.buffer):
        _write(await conversation.say(line))


def _lines(stream: IO[bytes]) -> Iterator[str]:
    """Lines as they were typed, without their ends; bytes that are no text are replaced."""
    for line in iter(stream.readline, b""):
        yield line.decode("utf-8", "replace").removesuffix("\n").removesuffix("\r")


def _write(turn: ChatTurn) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(turn) + b"\n")
    sys.stdout.buffer.flush()


async def _talked(conversation: Chat) -> None:
    _show(await conversation.start())
    console.print("[dim]Ctrl-D ends the conversation.[/]")
    while True:
        try:
            line = console.input("[bold cyan]you[/]  ")
        except (EOFError, KeyboardInterrupt):
            console.print()
            return
        turn = await conversation.say(line)
        _show(turn)
        if turn.ended:
            return


def _show(turn: ChatTurn) -> None:
    for reply in turn.replies:
        console.print(f"[bold green]nara[/] {escape(reply)}", soft_wrap=True)
