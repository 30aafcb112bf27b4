"""All commands, and what becomes of the errors they end with."""

from __future__ import annotations

import inspect
import os
import sys

import typer

from tenor import __version__
from tenor.cli.commands import assistant
from tenor.cli.commands.kept import erase, export, import_calls, people, playbook, report, rules, scorecard
from tenor.cli.commands.learning import (
    archive,
    dataset,
    drift,
    finetune,
    jobs,
    labels,
    learn,
    models,
    runs,
    snapshot,
    teams,
)
from tenor.cli.commands.recordings import analyze, classify, evaluate, ingest, transcribe
from tenor.cli.commands.services import account, config, dashboard, riva, serve
from tenor.cli.commands.services import db as database
from tenor.cli.commands.start import demo, doctor, sample, watch
from tenor.cli.context import Context
from tenor.cli.output import complain
from tenor.cli.own_packages import shadowed
from tenor.errors import BadInput, TenorError

app = typer.Typer(
    name="tenor",
    help="Show what is said in every call of a contact centre, within a second, with sentiment and intent.",
    epilog="Settings come from tenor.toml, TENOR_* variables and --set; `tenor config` shows them all.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

START, CALLS, SERVICES = "Start here", "Work with recordings", "Run the services"
KEPT, LEARN = "What is kept", "Learn from it"
app.command(rich_help_panel=START)(demo.demo)
app.command(rich_help_panel=START)(watch.watch)
app.command(rich_help_panel=START)(doctor.doctor)
app.command(rich_help_panel=CALLS)(transcribe.transcribe)
app.command(rich_help_panel=CALLS)(analyze.analyze)
app.command(rich_help_panel=CALLS)(ingest.ingest)
app.command(rich_help_panel=CALLS)(classify.classify)
app.command(rich_help_panel=KEPT)(export.export)
app.command("import", rich_help_panel=KEPT)(import_calls.import_calls)
app.command(rich_help_panel=KEPT)(report.report)
app.command(rich_help_panel=KEPT)(erase.erase)
app.command(rich_help_panel=LEARN)(learn.learn)
app.command(rich_help_panel=LEARN)(drift.drift)
app.command(rich_help_panel=LEARN)(archive.archive)
app.command(rich_help_panel=LEARN)(finetune.finetune)
app.command(rich_help_panel=SERVICES)(dashboard.dashboard)
app.command(rich_help_panel=SERVICES)(riva.riva)
app.command(rich_help_panel=SERVICES)(serve.serve)
app.command(rich_help_panel=SERVICES)(config.config)
app.add_typer(evaluate.app, name="evaluate", rich_help_panel=CALLS)
app.add_typer(sample.app, name="sample", rich_help_panel=START)
app.add_typer(rules.app, name="rules", rich_help_panel=KEPT)
app.add_typer(scorecard.app, name="scorecard", rich_help_panel=KEPT)
app.add_typer(playbook.app, name="playbook", rich_help_panel=KEPT)
app.add_typer(runs.app, name="runs", rich_help_panel=LEARN)
app.add_typer(models.app, name="models", rich_help_panel=LEARN)
app.add_typer(people.app, name="people", rich_help_panel=KEPT)
app.add_typer(snapshot.app, name="snapshot", rich_help_panel=LEARN)
app.add_typer(labels.app, name="labels", rich_help_panel=LEARN)
app.add_typer(dataset.app, name="dataset", rich_help_panel=LEARN)
app.add_typer(jobs.app, name="jobs", rich_help_panel=LEARN)
app.add_typer(teams.app, name="teams", rich_help_panel=LEARN)
app.add_typer(assistant.app, name="assistant", rich_help_panel=SERVICES)
app.add_typer(account.app, name="account", rich_help_panel=SERVICES)
app.add_typer(database.app, name="db", rich_help_panel=SERVICES)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tenor {__version__}")
        raise typer.Exit


@app.callback()
def tenor(
    context: typer.Context,
    config_file: str = typer.Option("", "--config", metavar="FILE", help="Settings file instead of ./tenor.toml."),
    settings: list[str] = typer.Option(
        [], "--set", metavar="NAME=VALUE", help="Override one setting, e.g. --set bus.url=kafka://localhost:9092."
    ),
    home: str = typer.Option("", "--home", metavar="FOLDER", help="Where everything is kept (default: ./.tenor)."),
    verbose: bool = typer.Option(False, "--verbose", "-v", help="Log more."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Log only what went wrong."),
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    if context.invoked_subcommand != "doctor" and (found := shadowed()):  # the doctor says so itself
        raise BadInput(found.message, found.remedy)
    context.obj = Context(config_file, settings, home, "debug" if verbose else "error" if quiet else None)


def _unwrap_help(commands: typer.Typer) -> None:
    """The terminal's width breaks lines, not the docstring; Typer joins those of the first paragraph only."""
    for command in commands.registered_commands:
        paragraphs = (inspect.getdoc(command.callback) or "").split("\n\n")
        command.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    for group in commands.registered_groups:
        if group.typer_instance:
            _unwrap_help(group.typer_instance)


_unwrap_help(app)


def run() -> None:
    """Errors we can explain are one line and an exit code, never a traceback."""
    # Read when numpy is loaded, which is later: its helpers spin after every small product, on cores the decoders need.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.umask(os.umask(0o077) | 0o077)  # whatever is written holds what people said: it is its owner's alone
    try:
        app()
    except TenorError as error:
        complain(error.message, error.hint)
        sys.exit(error.exit_code)
    except BrokenPipeError:  # `tenor ... | head`
        sys.stderr.close()
    except OSError as error:  # a full disk, a folder that may not be written
        where = f"{error.filename}: " if error.filename else ""
        complain(f"{where}{error.strerror or error}")
        sys.exit(TenorError.exit_code)
