"""The progress bar of everything that takes minutes: on stderr, with what a run wants to say at its end."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text


class _Loss(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(str(task.fields.get("loss", "")), style="dim")


def progress(*, quiet: bool = False) -> Progress:
    """Tasks may have a field `loss`, which is shown."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        _Loss(),
        console=Console(stderr=True, quiet=quiet),
        refresh_per_second=2,
    )
