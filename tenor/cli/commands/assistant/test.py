"""`tenor assistant test`: the conversations that must go well."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tenor.cli.commands.assistant.flow_files import flow_files
from tenor.cli.context import run, settings
from tenor.cli.output import echo


class UnderstanderName(StrEnum):
    IN_FORCE = "in-force"
    KEYWORDS = "keywords"


def play_conversations(
    context: typer.Context,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FOLDER|FILE",
            help="The folder of an assistant with its `tests`, or files of tests. Default: the one in force.",
        ),
    ] = None,
    flows: Annotated[
        Path | None, typer.Option("--flows", metavar="FOLDER", help="The assistant that the files test.")
    ] = None,
    name: Annotated[str, typer.Option("-k", metavar="NAME", help="Only conversations whose name contains this.")] = "",
    coverage: Annotated[
        bool, typer.Option("--coverage", help="List the states and transitions that no test goes through.")
    ] = False,
    understander: Annotated[
        UnderstanderName, typer.Option("--understander", help="Who understands: the model in force, or rules alone.")
    ] = UnderstanderName.IN_FORCE,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Play conversations against an assistant, on virtual time and with sample data, and compare what it does with
    what they expect. Exits with 1 when one fails, and with 2 when a file is wrong.
    """
    from dialog.testing.report import as_json as report_as_json
    from dialog.testing.report import told
    from tenor.runtime.assistant.conversation_tests import run_conversations, select

    selection = select(files or [], flows, flow_files(context, None)[0])
    model = understander is UnderstanderName.IN_FORCE
    result = run(run_conversations(settings(context), selection, name=name, model=model))
    if as_json:
        typer.echo(json.dumps(report_as_json(result), ensure_ascii=False))
    else:
        for line in told(result, coverage=coverage):
            echo(line)
    if result.failed:
        raise typer.Exit(1)
