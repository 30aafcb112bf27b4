"""A terminal with a program in it: what stands on its screen, and what scrolled off it, once the program is done."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import pyte

from tests.tenor.cli.command import environment

ROOT = Path(__file__).parents[3]


def on_screen(
    command: Sequence[str | Path],
    *,
    columns: int,
    cwd: Path,
    rows: int = 24,
    stdout: IO[bytes] | None = None,
    stderr: IO[bytes] | None = None,
) -> list[str]:
    """All lines as a person saw them last; a stream that is given goes elsewhere."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    own = {name: value for name, value in environment().items() if name not in ("COLUMNS", "LINES")}
    process = subprocess.Popen(
        [str(word) for word in command],
        cwd=cwd,
        env={**own, "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)},
        stdin=slave,
        stdout=stdout or slave,
        stderr=stderr or slave,
        start_new_session=True,
    )
    os.close(slave)
    screen = pyte.HistoryScreen(columns, rows, history=10_000)
    stream = pyte.ByteStream(screen)
    try:
        while data := _read(master):
            stream.feed(data)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
        os.close(master)
    above = ["".join(line[column].data for column in range(columns)) for line in screen.history.top]
    lines = [line.rstrip() for line in [*above, *screen.display]]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _read(master: int) -> bytes:
    """Nothing once the last program that had the terminal open is gone."""
    try:
        return os.read(master, 65_536)
    except OSError:
        return b""
