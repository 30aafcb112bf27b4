"""How commands that look over a file tell what they found."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import typer

from tenor.cli.output import say
from tenor.errors import BadInput
from tenor.yaml_lines import Faulty


def report(path: Path, read: Callable[[], str], *, as_json: bool) -> None:
    """Read a file and say what is in it, or everything that is wrong with it."""
    faults = []
    found = ""
    try:
        found = read()
    except Faulty as faulty:
        if faulty.path != str(path):  # another file that is needed to judge this one
            raise
        faults = faulty.faults
    if as_json:
        told = [{"line": fault.line, "column": fault.column, "message": fault.message} for fault in faults]
        typer.echo(json.dumps({"file": str(path), "faults": told}, ensure_ascii=False))
    elif faults:
        for fault in faults:
            typer.echo(f"{path}:{fault.line}:{fault.column}: {fault.message}", err=True)
        say(f"[bold red]{len(faults)} {'mistakes' if len(faults) > 1 else 'mistake'}[/]")
    else:
        say(f"{path}: {found}, no mistakes")
    if faults:
        raise typer.Exit(BadInput.exit_code)
