"""The archive at one moment, under a name: a list of blobs that never changes, and costs what is new in it.

    snapshots/snap-calls-learn-42-2026-11-18-03-00-00.json      name, root hash, parts; what erasures amended

An erasure is the only thing that changes what a snapshot names; its original root hash can be checked even then.
"""

from storage.snapshots.manifest import Snapshot, find, listing
from storage.snapshots.restoring import restore
from storage.snapshots.taking import current_or_taken, take
from storage.snapshots.verifying import SnapshotReport, verify, verify_datasets

__all__ = [
    "Snapshot",
    "SnapshotReport",
    "current_or_taken",
    "find",
    "listing",
    "restore",
    "take",
    "verify",
    "verify_datasets",
]
