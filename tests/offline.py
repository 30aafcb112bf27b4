"""Commands without a network: in a network namespace of their own where the system allows it, and with a hook in every
Python process that writes down who wanted to go farther than this machine, and stops it."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

TRIED = "tried.txt"
HOOK = """
import ipaddress, sys, traceback

def near(host):
    if host in (None, "", b"", "localhost", b"localhost"):
        return True
    try:
        return ipaddress.ip_address(host.decode() if isinstance(host, bytes) else host).is_loopback
    except ValueError:
        return False  # a name that somebody would have to be asked for

def watch(event, arguments):
    if event in ("socket.connect", "socket.sendto"):
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else None  # others are sockets of this machine
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = arguments[0]
    else:
        return
    if not near(host):
        with open({tried!r}, "a") as file:
            file.write(f"{{event}} {{arguments[:2]}}\\n{{''.join(traceback.format_stack(limit=12))}}\\n")
        raise OSError(f"there is no network: {{event}} {{host}}")

sys.addaudithook(watch)
"""


class NoNetwork:
    """`site` comes first in PYTHONPATH, `prefix` before the command."""

    def __init__(self, folder: Path) -> None:
        self.site = folder / "site"
        self.site.mkdir()
        self._tried = self.site / TRIED
        (self.site / "sitecustomize.py").write_text(HOOK.format(tried=str(self._tried)))
        self.prefix = own_namespace()

    @property
    def tried(self) -> str:
        """What wanted to leave, and from where."""
        return self._tried.read_text() if self._tried.exists() else ""


@cache
def own_namespace() -> tuple[str, ...]:
    """How a command begins that has no network; empty where that is not allowed."""
    command = ("unshare", "--map-root-user", "--net")
    code = "import socket; socket.create_connection(('192.0.2.1', 9), 1)"
    try:
        subprocess.run([*command, "true"], check=True, capture_output=True)
        done = subprocess.run([*command, sys.executable, "-c", code], capture_output=True, check=False)
    except (OSError, subprocess.CalledProcessError):
        return ()
    assert b"Network is unreachable" in done.stderr, done.stderr
    return command
