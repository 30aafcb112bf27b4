"""The volume that holds the archive, on NetApp ONTAP: a snapshot of it under the same name, and a clone of that.

Through NetApp's own toolkit (extra `ontap`), which keeps the cluster's address and account in its configuration and in
the machine's keyring: `netapp_dataops_cli.py config` asks for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple

from tenor.errors import BadInput, Refused, Unavailable
from tenor.settings import Settings

TOOLKIT = "netapp_dataops.traditional"


def snapshot_volume(settings: Settings, name: str) -> None:
    """Have ONTAP take a snapshot of the volume."""
    learn = settings.learn
    with _explained(learn.ontap_volume):
        _toolkit().create_snapshot(
            volume_name=learn.ontap_volume,
            snapshot_name=name,
            cluster_name=learn.ontap_cluster or None,
            svm_name=learn.ontap_svm or None,
        )


class VolumeState(NamedTuple):
    version: str
    """Of ONTAP,"""
    snapshots: int
    """and how many the volume has."""


def look(settings: Settings) -> VolumeState:
    """Ask the cluster for its version and for the volume's snapshots: who gets both can use the volume."""
    learn = settings.learn
    with _explained(learn.ontap_volume):
        found = _toolkit().list_snapshots(
            volume_name=learn.ontap_volume,
            cluster_name=learn.ontap_cluster or None,
            svm_name=learn.ontap_svm or None,
        )
        cluster = import_module("netapp_ontap.resources").Cluster()
        cluster.get(fields="version")  # over the connection that the toolkit has opened
        return VolumeState(str(cluster.version.full), len(found))


def clone_volume(settings: Settings, name: str, volume: str, new: str) -> None:
    """Make a new volume of the snapshot `name` of `volume`; it costs nothing until something in it changes."""
    learn = settings.learn
    with _explained(volume):
        _toolkit().clone_volume(
            new_volume_name=new,
            source_volume_name=volume,
            source_snapshot_name=name,
            cluster_name=learn.ontap_cluster or None,
            source_svm=learn.ontap_svm or None,
        )


def delete_snapshot(settings: Settings, name: str, volume: str) -> None:
    learn = settings.learn
    with _explained(volume):
        _toolkit().delete_snapshot(
            volume_name=volume,
            snapshot_name=name,
            cluster_name=learn.ontap_cluster or None,
            svm_name=learn.ontap_svm or None,
        )


def _toolkit() -> Any:
    try:
        return import_module(f"{TOOLKIT}.ontap")
    except ImportError:
        raise BadInput(
            "learn.ontap_volume is set but NetApp's DataOps Toolkit is not installed", "pip install 'tenor[ontap]'"
        ) from None


@contextmanager
def _explained(volume: str) -> Iterator[None]:
    """What the toolkit raises, in our words: it says with a class what went wrong."""
    try:
        yield
    except (BadInput, Refused, Unavailable):
        raise
    except Exception as error:
        kind, said = type(error).__name__, " ".join(str(error).split())[:300]
        match kind:
            case "InvalidConfigError" | "ConnectionTypeError":
                hint = "`netapp_dataops_cli.py config` asks for cluster, account and SVM"
                raise BadInput("NetApp's DataOps Toolkit is not configured for ONTAP", hint) from error
            case "InvalidVolumeParameterError" | "InvalidSnapshotParameterError":
                hint = "check learn.ontap_volume and learn.ontap_svm"
                raise BadInput(
                    f"ONTAP has no volume {volume!r} or no such snapshot of it, or the clone exists", hint
                ) from error
            case "APIConnectionError":
                raise Unavailable(f"ONTAP did not do it: {said}") from error
        raise Unavailable(f"ONTAP cannot be reached: {said or kind}") from error
