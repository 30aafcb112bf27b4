"""`tenor assistant new`: a small assistant of one's own, to begin with."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.markup import escape

from tenor.cli.output import say
from tenor.errors import BadInput

_NAMES: Final = {"readme.txt": "README.md"}


def new(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A folder that is empty or not there yet.")],
) -> None:
    """Write a small assistant that works at once, with a conversation test, into a folder."""
    from dialog.flow.loading import STARTER

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput(f"{folder} is not empty", "give a folder that is empty or not there yet")
    for source in sorted(path for path in STARTER.rglob("*") if path.suffix in (".yml", ".txt")):
        relative = source.relative_to(STARTER)
        target = folder / relative.with_name(_NAMES.get(relative.name, relative.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
        say(f"[dim]{escape(os.fspath(target))}[/]")
    say(f"Talk to it: tenor assistant chat --flows {escape(os.fspath(folder))}")
