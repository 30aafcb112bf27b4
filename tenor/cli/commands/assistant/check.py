"""`tenor assistant check`: every mistake in an assistant's flows."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tenor.cli.commands.assistant.flow_files import Files, flow_files
from tenor.cli.output import echo, say
from tenor.errors import BadInput

if TYPE_CHECKING:
    from dialog.flow.faults import FlowFault
    from dialog.flow.model import Assistant


def check(
    context: typer.Context,
    files: Files = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Find every mistake in an assistant's flows, with line and column. Exits with 2 when there is one.

    Warnings (a state that no way leads to) are told, too; with warnings alone it exits with 0.
    """
    from dialog.flow.loading import check_files

    report = check_files(flow_files(context, files))
    if as_json:
        told = {"faults": _told(report.faults), "warnings": _told(report.warnings)}
        typer.echo(json.dumps(told, ensure_ascii=False))
    else:
        for one in sorted((*report.faults, *report.warnings)):
            echo(str(one), err=True)
        warnings = f", {_counted(len(report.warnings), 'warning')}" if report.warnings else ""
        if report.assistant is None:
            say(f"[bold red]{_counted(len(report.faults), 'mistake')}[/]{warnings}")
        else:
            say(f"{_contents(report.assistant)}: no mistakes{warnings}")
    if report.assistant is None:
        raise typer.Exit(BadInput.exit_code)


def _told(faults: Iterable[FlowFault]) -> list[dict[str, Any]]:
    return [
        {"file": one.where.file, "line": one.where.line, "column": one.where.column, "message": one.message}
        for one in faults
    ]


def _contents(assistant: Assistant) -> str:
    states = sum(len(flow.states) for flow in assistant.flows.values())
    counts = (len(assistant.flows), "flow"), (states, "state"), (len(assistant.intent_transitions), "intent")
    return ", ".join(_counted(count, word) for count, word in counts)


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
