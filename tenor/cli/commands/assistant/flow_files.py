"""Which assistant a command means."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tenor.cli.context import settings

Files = Annotated[
    list[Path] | None,
    typer.Argument(metavar="FOLDER|FILE", help="The folder of an assistant, or its files. Default: the one in force."),
]


def flow_files(context: typer.Context, given: list[Path] | None) -> list[Path]:
    """What was given, else the assistant in force."""
    from dialog.flow.loading import SHIPPED

    folder = settings(context).assistant.flows
    return given or [Path(folder) if folder else SHIPPED]
