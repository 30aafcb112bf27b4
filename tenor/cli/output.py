"""How the command line speaks: results on standard output, everything else on standard error."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

console = Console(highlight=False)
errors = Console(stderr=True, highlight=False)


def complain(message: str, hint: str = "") -> None:
    errors.print(f"[bold red]error:[/] {escape(message)}", soft_wrap=True)
    if hint:
        errors.print(f"       [dim]{escape(hint)}[/]", soft_wrap=True)


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
