"""`tenor assistant`: the assistant's flows, and conversations with it."""

from __future__ import annotations

import typer

from tenor.cli.commands.assistant import chat, check, draw, export, new, parse, test

app = typer.Typer(help="The assistant: check its flows, talk to it, test it.", no_args_is_help=True)
app.command()(chat.chat)
app.command()(check.check)
app.command()(draw.draw)
app.command()(export.export)
app.command()(new.new)
app.command()(parse.parse)
app.command("test")(test.play_conversations)
