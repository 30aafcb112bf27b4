"""Pods without a cluster: every container of deploy/kubernetes as a process of its own, with the command, the
environment, the mounts, the user and the rights that the manifests give it.

A mount namespace takes the place of the image: nothing can be written to but what the manifest mounts. The network is
the machine's own, so ports are other ones. Needs root, and namespaces.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

from tests.conftest import free_port
from tests.deploy.manifests import ROOT, Container, containers

CONTAINERFILE = (ROOT / "deploy" / "Containerfile").read_text()
IMAGE = dict(re.findall(r"(?:ENV|^) +([A-Z_]+)=(\S+)", CONTAINERFILE, re.MULTILINE))
ENTRYPOINT: list[str] = json.loads(re.findall(r"^ENTRYPOINT (.*)$", CONTAINERFILE, re.MULTILINE)[0])
SYSTEM = ("/bin", "/dev", "/etc", "/lib", "/lib64", "/proc", "/sbin", "/usr")
CODE = (sys.base_prefix, sys.prefix, str(ROOT))
ERROR = re.compile(r'error: |Traceback|\{(?!.*"logger": "aiokafka).*"level": "(error|critical)"')
"""aiokafka calls it an error to ask again."""
READY_S, GONE_S = 240.0, 240.0


class Host:
    """What pods find outside: the shared volume, certificates, secrets, servers."""

    def __init__(
        self, folder: Path, secrets: Mapping[str, str], certificates: Path, settings: Mapping[str, str]
    ) -> None:
        """`settings` is what an overlay changes."""
        self.folder, self.secrets, self.certificates, self.settings = folder, secrets, certificates, settings
        self.volume = folder / "volume"
        folder.mkdir()
        self.volume.mkdir()
        # As a cluster prepares a volume for `fsGroup`.
        os.chown(self.volume, 0, 10001)
        self.volume.chmod(0o2775)


class Pod:
    def __init__(self, host: Host, workload: str, name: str) -> None:
        self.name, self._host = f"{workload}-{name}", host
        self._folder = host.folder / self.name
        self._containers = [one for one in containers() if one.workload == workload]
        self.ports: dict[int, int] = {}
        """Those of this machine, by the manifest's."""
        for one in self._containers:
            for port in one.spec.get("ports", ()):
                self.ports[port["containerPort"]] = free_port()
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self) -> None:
        self._folder.mkdir()
        for one in self._containers:
            command = ["unshare", "--mount", "--propagation", "private", "sh", "-ec", self._script(one)]
            with self.log(one).open("ab") as log:
                self._running[one.name] = subprocess.Popen(
                    command, env=self._environment(one), stdin=subprocess.DEVNULL, stdout=log, stderr=log
                )

    async def ready(self) -> None:
        async with asyncio.timeout(READY_S):
            for one in self._containers:
                path, port = one.probe("readiness")
                while not await asyncio.to_thread(_answers, f"http://127.0.0.1:{self.ports[port]}{path}"):
                    assert self._running[one.name].poll() is None, self.said()
                    await asyncio.sleep(0.2)

    async def stop(self) -> None:
        """As a cluster does, which waits for the grace period only."""
        await asyncio.gather(*map(self._stop, self._containers))

    async def _stop(self, one: Container) -> None:
        await asyncio.sleep(
            one.spec.get("lifecycle", {"preStop": {"sleep": {"seconds": 0}}})["preStop"]["sleep"]["seconds"]
        )
        self._running[one.name].send_signal(signal.SIGTERM)
        grace_s = min(one.pod["terminationGracePeriodSeconds"], GONE_S)
        assert await asyncio.to_thread(self._running[one.name].wait, grace_s) == 0, self.said()

    async def completed(self) -> None:
        """Of a Job."""
        [process] = self._running.values()
        code = await asyncio.to_thread(process.wait, READY_S)
        assert code == 0, self.said()

    def kill(self) -> None:
        for process in self._running.values():
            if process.poll() is None:
                process.kill()
                process.wait()

    def log(self, one: Container) -> Path:
        return self._folder / f"{one.name}.log"

    def said(self) -> str:
        return "\n".join(
            f"{self.name}/{one.name} ({self._running[one.name].poll()}):\n{self.log(one).read_text()[-3000:]}"
            for one in self._containers
        )

    def errors(self) -> list[str]:
        """Lines that nobody wants to see of a restart that was planned."""
        lines = [line for one in self._containers for line in self.log(one).read_text().splitlines()]
        return [line for line in lines if ERROR.match(line)]

    def _environment(self, one: Container) -> dict[str, str]:
        given = {
            **IMAGE,
            **one.environment(self._host.secrets),
            **self._host.settings,
            "PATH": f"{sys.prefix}/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "HOME": "/home/tenor",
        }
        if sys.pycache_prefix:
            given["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
        asked = given["TENOR_TELEMETRY__METRICS_PORT"]
        ports = {
            "TENOR_TELEMETRY__METRICS_PORT": int(asked),
            "TENOR_GATEWAY__PORT": 8400,
            "TENOR_GATEWAY__AUDIOSOCKET_PORT": 8401,
            "TENOR_DASHBOARD__PORT": 8501,
            "TENOR_RIVA__PORT": 50051,
        }
        given |= {name: str(self.ports[port]) for name, port in ports.items() if port in self.ports}
        given["TENOR_RIVA__HTTP_PORT"] = "0"
        if "TENOR_SPEECH__ADDRESS" in given:
            given["TENOR_SPEECH__ADDRESS"] = f"127.0.0.1:{self.ports.get(50051, 9)}"
        return {name: "127.0.0.1" if value == "0.0.0.0" else value for name, value in given.items()}

    def _script(self, one: Container) -> str:
        """What puts the file system of the container together and becomes its process."""
        root = self._folder / f"{one.name}.root"
        root.mkdir()
        lines = [f"mount -t tmpfs -o mode=755 tenor {root}", f"install -d -o 10001 -g 10001 -m 700 {root}/data"]
        for path in dict.fromkeys((*SYSTEM, *CODE)):
            target = f"{root}{path}"
            if os.path.islink(path):
                lines.append(f"ln -s {os.readlink(path)} {target}")
            elif os.path.exists(path):
                lines += [f"mkdir -p {target}", f"mount --rbind {path} {target}", f"mount -o remount,bind,ro {target}"]
        volumes = {volume["name"]: volume for volume in one.pod["volumes"]}
        for mount in one.spec["volumeMounts"]:
            target = f"{root}{mount['mountPath']}"
            # The directory that it is mounted on is made by root, wherever that is.
            lines += [f"mkdir -p {target}", f"mount --bind {self._volume(volumes[mount['name']])} {target}"]
            if mount.get("readOnly"):
                lines.append(f"mount -o remount,bind,ro {target}")
        user = one.pod["securityContext"]["runAsUser"]
        group = one.pod["securityContext"]["runAsGroup"]
        words = ["setpriv", f"--reuid={user}", f"--regid={group}", f"--groups={group}", "--no-new-privs"]
        words += ["--inh-caps=-all", "--bounding-set=-all", "sh", "-c", 'cd /data && exec "$@"', "sh"]
        lines += [
            f"mount -o remount,ro {root}",
            f"exec chroot {root} {shlex.join([*words, *ENTRYPOINT, *one.spec['args']])}",
        ]
        return "umask 022\n" + "\n".join(lines)

    def _volume(self, volume: Mapping[str, object]) -> Path:
        if "persistentVolumeClaim" in volume:
            return self._host.volume
        if "secret" in volume:
            return self._host.certificates
        empty = self._folder / str(volume["name"])
        if not empty.exists():
            empty.mkdir()
            shutil.chown(empty, 0, 10001)
            empty.chmod(0o2777)
        return empty


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=3):
            return True
    except (urllib.error.URLError, OSError):
        return False
