"""How the command line speaks: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.segment import Segment

from tenor.errors import BadInput, TenorError
from tenor.yaml.nodes import Faulty

_CONTROLS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f]")
"""What moves a terminal's cursor, names its window or answers for its user. Blanks, tabs and line ends are none."""


class _Terminal(Console):
    """Names of files, messages and people come from others: none of them gives orders to the terminal."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(_visible(segment.text), segment.style)


console = _Terminal(highlight=False)
errors = _Terminal(stderr=True, highlight=False)


def echo(text: str, *, err: bool = False) -> None:
    """A line as it is, but for what a terminal would obey."""
    stream = sys.stderr if err else sys.stdout
    typer.echo(_visible(text) if stream.isatty() else text, err=err)


def _visible(text: str) -> str:
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)


def complain(message: str, hint: str = "") -> None:
    errors.print(f"[bold red]error:[/] {escape(message)}", soft_wrap=True)
    if hint:
        errors.print(f"       [dim]{escape(hint)}[/]", soft_wrap=True)


def complain_of_file(file: str, error: TenorError) -> None:
    """Names the file, unless the error does."""
    complain(error.message if file in error.message else f"{file}: {error.message}", error.hint)


def warn(message: str) -> None:
    errors.print(f"[yellow]warning:[/] {escape(message)}", soft_wrap=True)


def say(message: str) -> None:
    """A word on what is going on; not part of the result."""
    errors.print(message, soft_wrap=True)


def clock(ms: int) -> str:
    """A position in a call, as people say it: 1:05, 1:02:33."""
    minutes, seconds = divmod(ms // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def size(count: int) -> str:
    """Bytes, as people say them: 34.1 MB."""
    amount, units = float(count), ["B", "kB", "MB", "GB", "TB"]
    while amount >= 1000 and len(units) > 1:
        amount /= 1000
        units.pop(0)
    return f"{amount:.0f} B" if units[0] == "B" else f"{amount:.1f} {units[0]}"


def progress() -> Progress:
    """A progress bar on a terminal, nothing elsewhere."""
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[detail]}"),
        TimeRemainingColumn(),
        console=errors,
        transient=True,
        disable=not errors.is_terminal,
    )


def writable_folder(folder: Path, option: str) -> None:
    """Make it, and try it: a place that cannot be written is told before the work."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise BadInput(f"{option} {folder} cannot be written: {error.strerror}", "name a folder") from None


def report_faults(path: Path, read: Callable[[], str], *, as_json: bool) -> None:
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
            echo(f"{path}:{fault.line}:{fault.column}: {fault.message}", err=True)
        say(f"[bold red]{len(faults)} {'mistakes' if len(faults) > 1 else 'mistake'}[/]")
    else:
        say(f"{escape(str(path))}: {found}, no mistakes")
    if faults:
        raise typer.Exit(BadInput.exit_code)
