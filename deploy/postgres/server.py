"""A real PostgreSQL server on this machine: a data folder of its own, on the loopback address.

    python -m deploy.postgres.server [--port 5432] [--data DIR]     in the foreground; Ctrl-C stops it

Needs Debian's package `postgresql` (or initdb and postgres on the path). Only the standard library of Python.
PostgreSQL refuses to run as root, so root runs it as the user `postgres`. The tests use `Server`.
"""

from __future__ import annotations

import argparse
import os
import pwd
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from deploy.service import Service, ServiceFailed, complete

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


class Server(Service):
    name = "PostgreSQL"
    needs = "apt-get install --no-install-recommends postgresql"
    stopping = signal.SIGINT
    killing = signal.SIGQUIT
    """Its children go with it; the next start recovers."""

    def __init__(self, data: Path, port: int, password: str = "", options: Mapping[str, str] | None = None) -> None:
        super().__init__(data, port)
        self._cluster = self.data / "cluster"
        self._password = password
        self._options = {**OPTIONS, **(options or {}), "port": str(port)}

    @property
    def address(self) -> str:
        return self.url()

    def url(self, database: str = "postgres") -> str:
        """The address of one of its databases."""
        secret = f":{self._password}" if self._password else ""
        return f"postgresql://{USER}{secret}@127.0.0.1:{self.port}/{database}"

    def prepare(self) -> None:
        if self._cluster.exists():
            return
        secret = self.data / "password"
        secret.write_text(self._password or "none")
        self.log.touch()
        if os.geteuid() == 0:
            owner = pwd.getpwnam(SERVICE_USER)
            for path in (self.data, secret, self.log):
                os.chown(path, owner.pw_uid, owner.pw_gid)
        way_in = "scram-sha-256" if self._password else "trust"
        command = [*_as_owner(), _program("initdb"), "-D", str(self._cluster), "-U", USER, f"--auth={way_in}"]
        command += [f"--pwfile={secret}", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]
        try:
            complete(command, "initdb failed")
        except ServiceFailed:
            shutil.rmtree(self._cluster, ignore_errors=True)
            raise
        finally:
            secret.unlink()

    def command(self) -> list[str]:
        settings = [word for name, value in self._options.items() for word in ("-c", f"{name}={value}")]
        return [*_as_owner(), *self.guarded([_program("postgres"), "-D", str(self._cluster), *settings])]

    def answers(self) -> bool:
        ready = [_program("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run(ready, check=False).returncode == 0


def _as_owner() -> list[str]:
    if os.geteuid():
        return []
    for program, how in (
        ("setpriv", ["--reuid", SERVICE_USER, "--regid", SERVICE_USER, "--init-groups"]),
        ("runuser", ["-u", SERVICE_USER, "--"]),
    ):
        if path := shutil.which(program):
            return [path, *how]
    raise ServiceFailed("neither setpriv nor runuser is here, and PostgreSQL does not run as root")


def _program(name: str) -> str:
    """Debian keeps the servers of all versions apart; the newest will do."""
    homes = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda home: int(home.parent.name), reverse=True)
    return Server.program(name, *homes)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m deploy.postgres.server", description="A PostgreSQL server on this machine."
    )
    parser.add_argument("--port", type=int, default=5432)
    parser.add_argument("--data", type=Path, default=Path(".postgres"))
    arguments = parser.parse_args()
    return Server(arguments.data, arguments.port).run()


if __name__ == "__main__":
    sys.exit(main())
