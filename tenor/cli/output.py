"""How the command line speaks: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TextIO, cast

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.segment import ControlType, Segment

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


class SameFaults:
    """What is wrong with many files, or lines of one: the same fault is told of the first, and then counted."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def tell(self, error: TenorError, place: str) -> None:
        about = error.message.replace(place, "")
        self._counts[about] += 1
        if self._counts[about] == 1:
            complain(error.message, error.hint)

    def tell_rest(self) -> None:
        for about, count in self._counts.items():
            if count > 1:
                errors.print(f"[dim]and {count - 1} more like it:{escape(about.removeprefix(':'))}[/]", soft_wrap=True)


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
    screen = _Terminal(file=sys.stderr, highlight=False)
    return _Bars(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[detail]}"),
        TimeRemainingColumn(),
        console=screen,
        transient=True,
        disable=not screen.is_terminal,
        redirect_stdout=False,
        redirect_stderr=False,
    )


class _Bars(Progress):
    """Bars that share a screen: whatever is written to it meanwhile, by whom and to whichever stream, comes above
    them. Rich itself has an eye on one stream only, and sends what belongs into a pipe to the terminal."""

    _before: tuple[TextIO, TextIO] | None = None

    def start(self) -> None:
        super().start()
        if self.live.is_started and not self._before:
            self._before = sys.stdout, sys.stderr
            sys.stdout, sys.stderr = (_AboveBars.over(stream, self.console) for stream in self._before)

    def stop(self) -> None:
        if self._before:
            for stream in (sys.stdout, sys.stderr):
                if isinstance(stream, _AboveBars):
                    stream.end()
            sys.stdout, sys.stderr = self._before
            self._before = None
        super().stop()


class _AboveBars:
    """A stream onto the screen of the bars: whole lines, as they are."""

    def __init__(self, stream: TextIO, screen: Console) -> None:
        self._stream, self._screen, self._line = stream, screen, ""

    @classmethod
    def over(cls, stream: TextIO, screen: Console) -> TextIO:
        """The stream itself, if it leads elsewhere."""
        if not stream.isatty() or os.fstat(stream.fileno()).st_rdev != os.fstat(screen.file.fileno()).st_rdev:
            return stream
        return cast(TextIO, cls(stream, screen))

    def write(self, text: str) -> int:
        lines, end, self._line = (self._line + text).rpartition("\n")
        if end:
            self._screen.print(_AsItIs(lines + end), end="", soft_wrap=True)
        return len(text)

    def flush(self) -> None:
        """The rest of a line waits for its end."""

    def end(self) -> None:
        if self._line:
            self.write("\n")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _AsItIs:
    """Text that was made for a terminal already."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __rich_console__(self, *_: object) -> Iterable[Segment]:
        yield Segment(self._text, None, [(ControlType.CARRIAGE_RETURN,)])  # what is marked as control is not touched


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
