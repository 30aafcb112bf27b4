"""`tenor playbook`: look over the agents' playbook, and try what it suggests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tenor.cli.context import settings
from tenor.cli.output import console, report_faults, say
from tenor.settings import LanguageSettings
from tenor.yaml.nodes import meant

if TYPE_CHECKING:
    from dashboard.playbook import Playbook

app = typer.Typer(help="The playbook: next steps that agents are shown.", no_args_is_help=True)
File = Annotated[Path | None, typer.Argument(metavar="FILE", help="Default: the playbook in force.")]


@app.command()
def check(
    context: typer.Context,
    file: File = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Find every mistake in a playbook, with line and column. Exits with 2 when there is one."""
    language = _language(context)
    path = _path(file, language)

    def found() -> str:
        book = _read(path, language)
        return f"steps for {len(book.intents)} intents and {len(book.alerts)} alerts"

    report_faults(path, found, as_json=as_json)


@app.command("try")
def try_out(
    context: typer.Context,
    intent: Annotated[str, typer.Argument(help="What the caller wants.")],
    mood: Annotated[float, typer.Option("--mood", min=-1, max=1, help="How the caller feels, from -1 to 1.")] = 0.0,
    alert: Annotated[list[str] | None, typer.Option("--alert", metavar="RULE", help="A rule that fired.")] = None,
    file: Annotated[Path | None, typer.Option("--file", metavar="FILE", help="Another playbook.")] = None,
) -> None:
    """Show which next steps an agent would see."""
    language = _language(context)
    book = _read(_path(file, language), language)
    for name in alert or ():
        if name not in book.alerts:
            say(f"the playbook has no alert {name!r}{meant(name, book.alerts)}")
    steps = book.suggest(intent, intent, mood, (), alert or ())
    if not steps:
        say("nothing is suggested")
    for number, one in enumerate(steps, 1):
        console.print(f"{number}. {one.text}", markup=False, soft_wrap=True)
        console.print(f"   {one.reason}", markup=False, soft_wrap=True, style="dim")


def _language(context: typer.Context) -> LanguageSettings:
    from tenor.model_store.store import language_in_force

    return language_in_force(settings(context))


def _read(path: Path, language: LanguageSettings) -> Playbook:
    from dashboard.playbook import read_playbook
    from tenor.taxonomy.in_force import intents_in_force

    return read_playbook(path, intents_in_force(language).names)


def _path(file: Path | None, language: LanguageSettings) -> Path:
    from dashboard.playbook import DEFAULT

    return file or (Path(language.playbook) if language.playbook else DEFAULT)
