"""`tenor` in a process of its own, for tests that kill it and start it again."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tenor.settings import Settings
from tests.tenor.cli.command import environment

ROOT = Path(__file__).parents[1]


class TenorProcess:
    def __init__(self, settings: Settings, *arguments: str, **variables: str) -> None:
        """With the home, the bus and the database of these settings; `variables` are further ones of the environment.
        The lease is short: what a killed process held is free soon."""
        self._command = (sys.executable, "-m", "tenor", *arguments)
        self._log = settings.home / f"{'-'.join(arguments[:2])}.log"
        self._environment: Mapping[str, str] = {
            **environment(),
            "PYTHONPATH": str(ROOT),
            "TENOR_HOME": str(settings.home),
            "TENOR_BUS__URL": settings.bus_url,
            "TENOR_BUS__PARTITIONS": str(settings.bus.partitions),
            "TENOR_BUS__LEASE_S": "1",
            "TENOR_STORAGE__URL": settings.storage.url,
            **variables,
        }
        self._running: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self._log.open("ab") as log:
            self._running = subprocess.Popen(self._command, env=self._environment, stdout=log, stderr=log)

    def check(self) -> None:
        """It is still alive."""
        assert self._running is not None
        assert self._running.poll() is None, self._log.read_text()[-2000:]

    def kill(self) -> None:
        assert self._running is not None
        self._running.kill()
        self._running.wait()

    def freeze(self) -> None:
        assert self._running is not None
        self._running.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._running is not None
        self._running.send_signal(signal.SIGCONT)

    @property
    def alive(self) -> bool:
        return self._running is not None and self._running.poll() is None
