"""Services started for a measurement, and stopped after it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from tenor.runtime.profiles import PATIENT
from tenor.settings import Settings

DATA = Path(os.environ.get("TENOR_BENCH_DATA", Path(__file__).parents[2] / "shared" / "data"))
READY_S = 60.0
SAMPLES = Path(__file__).parents[1] / "examples" / "calls"


def recordings() -> list[Path]:
    """Real telephone calls where there are some, else the sample calls."""
    return real_calls() or sample_calls()


def real_calls() -> list[Path]:
    return sorted((DATA / "harper-valley" / "dev" / "audio").glob("*.flac"))


def sample_calls() -> list[Path]:
    return sorted(SAMPLES.glob("*.ogg"))


def heard_live() -> list[str]:
    """Flags by which `tenor transcribe` hears recordings as calls are heard while they go on."""
    ours = Settings()
    values = {key: getattr(getattr(ours, section), name) for key in PATIENT for section, name in [key.split(".")]}
    return [flag for key, value in values.items() for flag in ("--set", f"{key}={value}")]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def tenor(*arguments: str) -> Iterator[psutil.Process]:
    """A `tenor` command in a process of its own."""
    process = subprocess.Popen([sys.executable, "-m", "tenor", *arguments], stderr=subprocess.DEVNULL)
    try:
        yield psutil.Process(process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def riva(*arguments: str) -> Iterator[tuple[str, psutil.Process]]:
    """Our speech server, ready: its address and its process."""
    port, http = free_port(), free_port()
    with tenor("riva", "--port", str(port), "--http-port", str(http), *arguments) as process:
        wait_for(f"http://127.0.0.1:{http}/v1/health/ready", process)
        yield f"127.0.0.1:{port}", process


def wait_for(address: str, process: psutil.Process) -> None:
    """Until the process answers there."""
    deadline = time.monotonic() + READY_S
    while True:
        try:
            with urllib.request.urlopen(address, timeout=1):
                return
        except (urllib.error.URLError, OSError):
            if time.monotonic() > deadline or not process.is_running():
                raise RuntimeError(f"nobody answered at {address} within {READY_S:.0f} s") from None
            time.sleep(0.2)


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)] if ordered else float("nan")
