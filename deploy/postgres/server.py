"""A real PostgreSQL server on this machine, without Docker: a data folder of its own, on the loopback address.

    python deploy/postgres/server.py [--port 5432] [--data DIR]     in the foreground; Ctrl-C stops it

Needs Debian's package `postgresql` (or initdb and postgres on the path). Only the standard library of Python.
PostgreSQL refuses to run as root, so root runs it as the user `postgres`. The tests use `Server`.
"""

from __future__ import annotations

import argparse
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from types import FrameType

APT = "apt-get install --no-install-recommends postgresql"
USER = "tenor"
"""Who owns the databases."""
SERVICE_USER = "postgres"
"""Whom root runs the server as."""

OPTIONS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "100",
    "shared_buffers": "64MB",
    "log_min_messages": "warning",
}


class ServerFailed(RuntimeError):
    """The server cannot run; the message says why."""


class Server:
    """A server with its data in a folder. Can be stopped or killed and started again on the same data."""

    def __init__(self, data: Path, port: int, password: str = "", options: Mapping[str, str] | None = None) -> None:
        self.data = data.resolve()
        self.port = port
        self._password = password
        self._options = {**OPTIONS, **(options or {}), "port": str(port)}
        self._process: subprocess.Popen[bytes] | None = None

    def url(self, database: str = "postgres") -> str:
        """The address of one of its databases."""
        secret = f":{self._password}" if self._password else ""
        return f"postgresql://{USER}{secret}@127.0.0.1:{self.port}/{database}"

    def start(self, patience_s: float = 60.0) -> None:
        """Make the data folder if it is not there, start, and wait until it answers."""
        if _listening(self.port):
            raise ServerFailed(f"port {self.port} is taken: is a PostgreSQL running already?")
        cluster = self.data / "cluster"
        if not cluster.exists():
            self._make(cluster)
        settings = [word for name, value in self._options.items() for word in ("-c", f"{name}={value}")]
        with self._log.open("ab") as log:
            self._process = _launch([*_as_owner(), _program("postgres"), "-D", str(cluster), *settings], log.fileno())
        deadline = time.monotonic() + patience_s
        ready = [_program("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        while subprocess.run(ready, check=False).returncode:
            if self._process.poll() is not None:
                raise ServerFailed(f"PostgreSQL ended while starting:\n{self._last_words()}")
            if time.monotonic() > deadline:
                self.kill()
                raise ServerFailed(f"PostgreSQL did not answer within {patience_s:.0f} s:\n{self._last_words()}")
            time.sleep(0.05)

    def wait(self) -> int:
        """Until it ends by itself."""
        assert self._process is not None
        return self._process.wait()

    def stop(self, patience_s: float = 30.0) -> None:
        """Stop cleanly, without waiting for those who are connected."""
        self._end(signal.SIGINT, patience_s)

    def kill(self) -> None:
        """End it as a power cut would: nothing is tidied up, the next start recovers."""
        self._end(signal.SIGQUIT, 10.0)

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

    def _make(self, cluster: Path) -> None:
        self.data.mkdir(parents=True, exist_ok=True)
        secret = self.data / "password"
        secret.write_text(self._password or "none")
        self._log.touch()
        if os.geteuid() == 0:
            owner = pwd.getpwnam(SERVICE_USER)
            for path in (self.data, secret, self._log):
                os.chown(path, owner.pw_uid, owner.pw_gid)
        way_in = "scram-sha-256" if self._password else "trust"
        command = [*_as_owner(), _program("initdb"), "-D", str(cluster), "-U", USER, f"--auth={way_in}"]
        command += [f"--pwfile={secret}", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, cwd="/"
        )
        secret.unlink()
        if done.returncode:
            shutil.rmtree(cluster, ignore_errors=True)
            raise ServerFailed(f"initdb failed:\n{done.stdout[-2000:]}")

    @property
    def _log(self) -> Path:
        return self.data / "server.log"

    def _last_words(self) -> str:
        return self._log.read_text(errors="replace")[-2000:]


def _as_owner() -> list[str]:
    if os.geteuid():
        return []
    for program, how in (
        ("setpriv", ["--reuid", SERVICE_USER, "--regid", SERVICE_USER, "--init-groups"]),
        ("runuser", ["-u", SERVICE_USER, "--"]),
    ):
        if path := shutil.which(program):
            return [path, *how]
    raise ServerFailed("neither setpriv nor runuser is here, and PostgreSQL does not run as root")


def _program(name: str) -> str:
    """Debian keeps the servers of all versions apart; the newest will do."""
    homes = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda home: int(home.parent.name), reverse=True)
    path = shutil.which(name, path=os.pathsep.join([*map(str, homes), os.environ.get("PATH", "")]))
    if path is None:
        raise ServerFailed(f"{name} is missing: {APT}")
    return path


def _launch(command: list[str], log: int) -> subprocess.Popen[bytes]:
    """Start a process that Ctrl-C does not reach, and that ends when we do, even when we are killed."""
    started: Future[subprocess.Popen[bytes]] = Future()
    # After the change of user, which would undo the wish to be told of our end.
    guard = [shutil.which("setpriv") or "setpriv", "--pdeathsig", "INT"] if shutil.which("setpriv") else []
    split = len(_as_owner())
    whole = [*command[:split], *guard, *command[split:]]

    def start_and_stay() -> None:
        # The signal comes when the thread that started the process ends, so that thread must not.
        try:
            process = subprocess.Popen(whole, stdout=log, stderr=log, start_new_session=True, cwd="/")
        except OSError as error:
            started.set_exception(error)
        else:
            started.set_result(process)
            process.wait()

    threading.Thread(target=start_and_stay, daemon=True).start()
    return started.result()


def _listening(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _run(port: int, data: Path) -> int:
    server = Server(data, port)

    def stop(number: int, _: FrameType | None) -> None:
        raise KeyboardInterrupt

    # Both: a shell starts background jobs with SIGINT ignored.
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    try:
        server.start()
        sys.stdout.write(f"PostgreSQL at {server.url()}, data in {os.path.relpath(data)}; Ctrl-C stops it\n")
        sys.stdout.flush()
        return server.wait()
    except KeyboardInterrupt:
        return 0
    finally:
        server.stop()


def main() -> int:
    parser = argparse.ArgumentParser(description="A PostgreSQL server on this machine.")
    parser.add_argument("--port", type=int, default=5432)
    parser.add_argument("--data", type=Path, default=Path(".tenor/postgres"))
    arguments = parser.parse_args()
    try:
        return _run(arguments.port, arguments.data)
    except ServerFailed as error:
        sys.stderr.write(f"{error}\n")
        return 3


if __name__ == "__main__":
    sys.exit(main())
