"""Somebody else's server on this machine, without Docker: started, stopped, killed, and never left behind."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from types import FrameType
from typing import ClassVar


class ServiceFailed(RuntimeError):
    """The server cannot run; the message says why."""


class Service(ABC):
    """A server with its data in a folder. Can be stopped or killed and started again on the same data."""

    name: ClassVar[str]
    needs: ClassVar[str]
    """What is missing when one of its programs is."""
    stopping: ClassVar[signal.Signals] = signal.SIGTERM
    killing: ClassVar[signal.Signals] = signal.SIGKILL

    def __init__(self, data: Path, port: int) -> None:
        self.data, self.port = data.resolve(), port
        self.log = self.data / "server.log"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @abstractmethod
    def prepare(self) -> None:
        """Whatever must be in the data folder before a start."""

    @abstractmethod
    def command(self) -> Sequence[str]:
        """What runs it."""

    @abstractmethod
    def answers(self) -> bool:
        """Whether requests are served, which is later than the port being open."""

    def start(self, patience_s: float = 180.0) -> None:
        """Start and wait until it answers."""
        if self._listening():
            raise ServiceFailed(f"port {self.port} is taken: is a {self.name} running already?")
        self.data.mkdir(parents=True, exist_ok=True)
        self.prepare()
        with self.log.open("ab") as log:
            self._process = _launch(self.command(), log.fileno())
        deadline = time.monotonic() + patience_s
        while not self.answers():
            if self._process.poll() is not None:
                raise ServiceFailed(f"{self.name} ended while starting:\n{self._last_words()}")
            if time.monotonic() > deadline:
                self.kill()
                raise ServiceFailed(f"{self.name} did not answer within {patience_s:.0f} s:\n{self._last_words()}")
            time.sleep(0.05)

    def stop(self, patience_s: float = 30.0) -> None:
        """Stop cleanly, without waiting for those who are connected."""
        self._end(self.stopping, patience_s)

    def kill(self) -> None:
        """End it as a power cut would: nothing is tidied up."""
        self._end(self.killing, 10.0)

    @property
    def ended(self) -> bool:
        """It was started, and is no more, though nobody stopped it."""
        return self._process is not None and self._process.poll() is not None

    def run(self) -> int:
        """In the foreground, until it ends or Ctrl-C."""

        def interrupt(number: int, _: FrameType | None) -> None:
            raise KeyboardInterrupt

        # Both: a shell starts background jobs with SIGINT ignored.
        signal.signal(signal.SIGTERM, interrupt)
        signal.signal(signal.SIGINT, interrupt)
        try:
            self.start()
            assert self._process is not None
            sys.stdout.write(f"{self.name} at {self.address}, data in {os.path.relpath(self.data)}; Ctrl-C stops it\n")
            sys.stdout.flush()
            return self._process.wait()
        except (ServiceFailed, OSError) as error:
            sys.stderr.write(f"{error}\n")
            return 3
        except KeyboardInterrupt:
            return 0
        finally:
            self.stop()

    def guarded(self, command: Sequence[str]) -> list[str]:
        """The command, told to end when we do, even when we are killed; after a change of user, which would undo it."""
        guard = shutil.which("setpriv")
        number = self.stopping.name.removeprefix("SIG")
        return [guard, "--pdeathsig", number, *command] if guard else list(command)

    @classmethod
    def program(cls, name: str, *folders: Path) -> str:
        """Where a program is, in these folders or on the path."""
        path = shutil.which(name, path=os.pathsep.join([*map(str, folders), os.environ.get("PATH", "")]))
        if path is None:
            raise ServiceFailed(f"{name} is missing: {cls.needs}")
        return path

    def _end(self, number: signal.Signals, patience_s: float) -> None:
        if self._process is None:
            return
        self._process.send_signal(number)
        try:
            self._process.wait(patience_s)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._process = None

    def _listening(self) -> bool:
        with socket.socket() as probe:
            probe.settimeout(1)
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def _last_words(self) -> str:
        return self.log.read_text(errors="replace")[-2000:]


def complete(command: Sequence[str], failed: str) -> None:
    """Run a command to its end; what it says is told only when it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, cwd="/")
    if done.returncode:
        raise ServiceFailed(f"{failed}:\n{done.stdout[-2000:]}")


def _launch(command: Sequence[str], log: int) -> subprocess.Popen[bytes]:
    """Start a process that Ctrl-C does not reach."""
    started: Future[subprocess.Popen[bytes]] = Future()

    def start_and_stay() -> None:
        # A guarded process is told when the thread that started it ends, so that thread must not.
        try:
            process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True, cwd="/")
        except OSError as error:
            started.set_exception(error)
        else:
            started.set_result(process)
            process.wait()

    threading.Thread(target=start_and_stay, daemon=True).start()
    return started.result()
