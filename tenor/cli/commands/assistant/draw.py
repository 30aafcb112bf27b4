"""`tenor assistant draw`: an assistant's states and ways as a picture."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from tenor.cli.commands.assistant.flow_files import Files, flow_files
from tenor.cli.output import say
from tenor.errors import BadInput


class Format(StrEnum):
    MERMAID = "mermaid"
    DOT = "dot"
    SVG = "svg"


def draw(
    context: typer.Context,
    files: Files = None,
    format_: Annotated[Format, typer.Option("--format", help="What to write.")] = Format.MERMAID,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Default: standard output.")] = None,
) -> None:
    """Draw an assistant's flows: Mermaid and DOT are texts for other programs, SVG is a finished picture."""
    from dialog.flow.drawing.picture import dot, mermaid
    from dialog.flow.drawing.svg import svg
    from dialog.flow.loading import load

    assistant = load(flow_files(context, files))
    text = {Format.MERMAID: mermaid, Format.DOT: dot, Format.SVG: svg}[format_](assistant)
    if out is None:
        typer.echo(text, nl=False)
        return
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"cannot write {out}: {error.strerror}", "give a file in a folder that is there") from None
    say(f"{escape(str(out))} is written")
