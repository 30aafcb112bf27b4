"""The command as a user types it: a process of its own, with what it printed and how it ended."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


def environment() -> dict[str, str]:
    """This process's environment without settings of Tenor."""
    return {name: value for name, value in os.environ.items() if not name.startswith("TENOR_")}


def tenor(
    *arguments: str | Path,
    cwd: Path,
    timeout: float = 120,
    stdin: bytes = b"",
    site: Path | None = None,
    prefix: Sequence[str] = (),
    columns: int = 200,
) -> subprocess.CompletedProcess[str]:
    """`site` is a folder of installed packages that come before everything else, `prefix` a command that runs it."""
    path = os.pathsep.join(map(str, [*([site] if site else []), Path(__file__).parents[3]]))
    done = subprocess.run(
        [*prefix, sys.executable, "-m", "tenor", *map(str, arguments)],
        cwd=cwd,
        env={**environment(), "COLUMNS": str(columns), "PYTHONPATH": path},
        input=stdin,
        capture_output=True,
        timeout=timeout,
        check=False,
    )
    result = subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())
    assert "Traceback" not in result.stderr, result.stderr
    return result
