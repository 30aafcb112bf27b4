"""What a run uses and where it runs: processor, memory, GPU, code and packages."""

from __future__ import annotations

import platform
import resource
import shutil
import socket
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any

import tenor

PACKAGES = ("numpy", "onnxruntime", "ctranslate2", "torch", "transformers", "nemo_toolkit", "tokenizers")
"""Whose versions change what comes out."""
ASK_GPU_S = 5.0


class ResourceMeter:
    """Processor and memory of this process, from its beginning here."""

    def __init__(self) -> None:
        self._began, self._cpu = time.monotonic(), _cpu_seconds()
        self._gpu = shutil.which("nvidia-smi")
        self._gpu_mb = 0.0
        self._asked = 0.0

    def read(self) -> dict[str, float]:
        elapsed = max(time.monotonic() - self._began, 1e-6)
        cpu = _cpu_seconds() - self._cpu
        found = {
            "cpu_seconds": round(cpu, 1),
            "cores": round(cpu / elapsed, 2),
            "memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        }
        if self._gpu and time.monotonic() - self._asked > ASK_GPU_S:
            self._asked = time.monotonic()
            self._gpu_mb = max(self._gpu_mb, _gpu_memory_mb(self._gpu))
        return found | ({"gpu_memory_mb": self._gpu_mb} if self._gpu_mb else {})


def environment() -> dict[str, Any]:
    """What the run runs on."""
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "packages": versions,
    }


def code_version() -> dict[str, Any]:
    """Which code: the version, and in a checkout the commit and what was changed since."""
    found: dict[str, Any] = {"version": tenor.__version__}
    root = Path(tenor.__file__).parents[1]
    if (root / ".git").exists():
        commit = _git(root, "rev-parse", "HEAD")
        if commit:
            found |= {"commit": commit, "changed": _git(root, "diff", "--stat", "HEAD").splitlines()[-1:]}
    return found


def host_name() -> str:
    return socket.gethostname()


def command_line() -> str:
    return " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])[:2000]


def _cpu_seconds() -> float:
    """Of this process and those that it started and that have ended."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def _gpu_memory_mb(program: str) -> float:
    query = [program, "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    try:
        answer = subprocess.run(query, capture_output=True, text=True, timeout=5, check=True).stdout
        return sum(float(line) for line in answer.split())
    except (OSError, ValueError, subprocess.SubprocessError):
        return 0.0


def _git(root: Path, *words: str) -> str:
    try:
        return subprocess.run(
            ["git", *words], cwd=root, capture_output=True, text=True, timeout=10, check=True
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""
