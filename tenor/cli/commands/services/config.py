"""`tenor config`: the settings in force and where each came from."""

from __future__ import annotations

import json
from typing import Any

import typer
from rich.padding import Padding
from rich.text import Text

from tenor.cli.context import Context
from tenor.cli.output import console
from tenor.errors import BadInput
from tenor.layers import FIELDS, nearest
from tenor.secret_values import shown


def config(
    context: typer.Context,
    match: str = typer.Argument("", metavar="PART", help="Show only settings whose name contains this."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object: name -> value, origin, description."),
    changed: bool = typer.Option(False, "--changed", help="Show only what differs from the defaults."),
) -> None:
    """Show every setting in force, and whether it comes from a default, a file, the environment or a flag."""
    given: Context = context.obj
    loaded = given.loaded()
    rows = []
    for name, field in FIELDS.items():
        value: Any = loaded.settings
        for part in name.split("."):
            value = getattr(value, part)
        if match in name and not (changed and loaded.origins[name] == "default"):
            rows.append((name, shown(name, value), loaded.origins[name], field.description or ""))
    if not rows and not changed:
        raise BadInput(f"no setting has {match!r} in its name", nearest(match))
    if as_json:
        keys = ("value", "origin", "description")
        typer.echo(json.dumps({name: dict(zip(keys, rest, strict=True)) for name, *rest in rows}, indent=2))
        return
    for name, value, origin, description in rows:
        style = "" if origin == "default" else "bold green"
        is_text = isinstance(value, str)
        console.print(Text.assemble((name, style or "bold"), " = ", (value if is_text else json.dumps(value), style)))
        console.print(Padding(Text(f"{description} ({origin})", style="dim"), (0, 0, 0, 4)))
