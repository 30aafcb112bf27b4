"""What snapshots of a volume on NetApp ONTAP need: `tenor doctor --for ontap`."""

from __future__ import annotations

import json
import socket
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from storage.place import Place
from storage.snapshots.ontap import look
from tenor.aio import in_thread
from tenor.errors import BadInput, TenorError
from tenor.runtime.prerequisites.finding import Finding
from tenor.settings import Settings

CONFIGURATION = Path(".netapp_dataops") / "config.json"
"""In the home folder of whoever runs Tenor: cluster and SVM. The account is in the machine's keyring."""
PORT = 443
CONNECT_S = 5.0
MOUNTS = Path("/proc/mounts")


async def ontap(settings: Settings) -> list[Finding]:
    """In order: each needs what stands before it."""
    host = settings.learn.ontap_cluster or _configured("hostname")
    return [
        _toolkit(),
        _configuration(settings),
        await in_thread(lambda: _address(host)),
        *await in_thread(lambda: _cluster(settings)),
        _mount(settings),
    ]


def _toolkit() -> Finding:
    try:
        return Finding("1 DataOps Toolkit", "ok", f"version {version('netapp-dataops-traditional')}")
    except PackageNotFoundError:
        return Finding("1 DataOps Toolkit", "bad", "it is not installed", "pip install 'tenor[ontap]'")


def _configuration(settings: Settings) -> Finding:
    what, remedy = "2 configuration", "netapp_dataops_cli.py config asks for cluster, account and SVM"
    kind = _configured("connectionType")
    if kind == "ONTAP":
        svm = settings.learn.ontap_svm or _configured("svm")
        return Finding(what, "ok", f"cluster {_configured('hostname')}, SVM {svm or 'none'}")
    detail = f"it is for {kind}, not for ONTAP" if kind else f"there is no {Path.home() / CONFIGURATION}"
    return Finding(what, "bad", detail, remedy)


def _address(host: str) -> Finding:
    if not host:
        return Finding("3 cluster", "bad", "no address is known", "set learn.ontap_cluster, or configure the toolkit")
    name, _, port = host.partition(":")
    try:
        socket.create_connection((name, int(port or PORT)), CONNECT_S).close()
    except (OSError, ValueError) as error:
        remedy = "check learn.ontap_cluster: the cluster's management address, which must be reachable from here"
        return Finding("3 cluster", "bad", f"{host} cannot be reached: {error}", remedy)
    return Finding("3 cluster", "ok", f"{host} answers")


def _cluster(settings: Settings) -> list[Finding]:
    """Account, version of the API, and volume: who is told the volume's snapshots has all three."""
    volume = settings.learn.ontap_volume
    if not volume:
        return [
            Finding("4 account and API", "bad", "not looked at: the volume must be named first"),
            Finding("5 volume", "bad", "learn.ontap_volume is not set", "set it to the volume that holds learn.url"),
        ]
    try:
        found = look(settings)
    except BadInput as error:
        return [Finding("4 account and volume", "bad", error.message, error.hint)]
    except TenorError as error:
        remedy = error.hint or "check the account: netapp_dataops_cli.py config asks for it again"
        return [Finding("4 account and volume", "bad", error.message, remedy)]
    return [
        Finding("4 account and API", "ok", f"ONTAP {found.version}"),
        Finding("5 volume", "ok", f"{volume}, with {found.snapshots} snapshots"),
    ]


def _mount(settings: Settings) -> Finding:
    what, folder = "6 archive on it", Place(settings.learn_url).folder
    if folder is None:
        return Finding(what, "bad", f"{settings.learn_url} is no folder", "set learn.url to a folder on the volume")
    device, point, kind = _mount_of(folder.absolute())
    if kind.startswith("nfs") or kind == "cifs":
        return Finding(what, "ok", f"{folder} is on {device}, mounted at {point}")
    remedy = "mount the volume (NFS or SMB), and set learn.url to a folder on it"
    return Finding(what, "note", f"{folder} is on {device} ({kind or 'unknown'}), which is no network mount", remedy)


def _mount_of(folder: Path) -> tuple[str, str, str]:
    """Device, mount point and type of the file system of a folder."""
    best = ("this machine", "/", "")
    try:
        lines = MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return best
    for line in lines:
        device, point, kind, *_ = line.split(" ")
        if folder.is_relative_to(point) and len(point) >= len(best[1]):
            best = (device, point, kind)
    return best


def _configured(name: str) -> str:
    """What the toolkit's configuration says; empty if it cannot be read."""
    try:
        told = json.loads((Path.home() / CONFIGURATION).read_text())
    except (OSError, ValueError):
        return ""
    return str(told.get(name, "")) if isinstance(told, dict) else ""
