"""`tenor config`: the settings in force and where each came from."""

from __future__ import annotations

import json
from typing import Any

import typer
from pydantic import SecretStr
from rich.table import Table

from tenor.cli.context import Context
from tenor.cli.output import console
from tenor.layers import FIELDS


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
            rows.append((name, _shown(value), loaded.origins[name], field.description or ""))
    if as_json:
        keys = ("value", "origin", "description")
        typer.echo(json.dumps({name: dict(zip(keys, rest, strict=True)) for name, *rest in rows}, indent=2))
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("setting", "value", "from", "what it is"):
        table.add_column(heading, overflow="fold", style="dim" if heading == "what it is" else None)
    for name, shown, origin, description in rows:
        style = None if origin == "default" else "bold green"
        table.add_row(name, shown if isinstance(shown, str) else json.dumps(shown), origin, description, style=style)
    console.print(table)


def _shown(value: Any) -> Any:
    """Secrets are there or not there; nobody needs to see more."""
    if isinstance(value, SecretStr):
        return "********" if value.get_secret_value() else ""
    if isinstance(value, dict):
        return {key: _shown(item) if key != "authorization" else "********" for key, item in value.items()}
    return value if isinstance(value, bool | int | float | str | list) else str(value)
