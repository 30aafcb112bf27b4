"""The processes of jobs: started in groups of their own, so that they outlive who started them; found again, signalled.

Every process carries a mark in its environment, by which the next runner knows it from one that got its number later.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

MARK = "TENOR_JOB"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "TENOR_LANGUAGE__THREADS")
"""What the libraries that compute go by."""
PROCESSES = Path("/proc")


def environment(mark: str, share: int) -> dict[str, str]:
    """As many threads as the job has whole shares, and at least one."""
    threads = dict.fromkeys(THREADS, str(max(1, share // 1000)))
    return {**os.environ, **threads, MARK: mark, "TENOR_JOB_SHARE": str(share), "PYTHONUNBUFFERED": "1"}


def start(command: Sequence[str], variables: Mapping[str, str], log: Path) -> subprocess.Popen[bytes]:
    """In a process group of its own: Ctrl-C at the runner is not meant for it."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        return subprocess.Popen(
            command, env=dict(variables), stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )


def find(pid: int, mark: str) -> int:
    """The process with the mark; 0: there is none. Without a pid, who started it died before writing it down."""
    if pid:
        return pid if _has(PROCESSES / str(pid), mark) else 0
    marked = (int(one.name) for one in PROCESSES.iterdir() if one.name.isdigit() and _has(one, mark))
    return next((one for one in marked if _leads(one)), 0)


def ask_to_end(pid: int) -> None:
    """SIGTERM to the process alone: those that it started are its own to end, after the checkpoint."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)


def kill(pid: int) -> None:
    """The whole group."""
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def last_lines(log: Path, most: int, block: int = 16_384) -> list[str]:
    """The last lines of what a job printed, out of the last bytes of its log; none where it ran elsewhere."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - block))
            lines = file.read().decode("utf-8", "replace").split("\n")
    except OSError:
        return []
    return [line.strip() for line in lines if line.strip()][-most:]


def last_words(log: Path, most: int = 500) -> str:
    """The end of what a job printed, for its error."""
    told = last_lines(log, most, 4 * most)
    faults = [at for at, line in enumerate(told) if line.startswith("error:")]
    return " ".join(told[faults[-1] :] if faults else told[-1:])[:most]


def _has(folder: Path, mark: str) -> bool:
    try:
        variables = (folder / "environ").read_bytes().split(b"\0")
    except OSError:  # it has ended meanwhile, or is somebody else's
        return False
    return f"{MARK}={mark}".encode() in variables


def _leads(pid: int) -> bool:
    """Whether it was started as a job, and not by one."""
    try:
        return os.getpgid(pid) == pid
    except ProcessLookupError:
        return False
