"""What others have, read as rows: folders of calls, NeMo's manifests and files of intents and slots, trees of audio.

Every reader names what does not belong there, and imports nothing then.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from storage.datasets.sources.calls_folder import is_calls_folder, read_calls
from storage.datasets.sources.librispeech import is_librispeech, read_librispeech
from storage.datasets.sources.manifest import manifests_in, read_manifests
from storage.datasets.sources.nemo_slots import is_slots_folder, read_slots
from storage.datasets.sources.tree import read_tree
from storage.datasets.sources.types import ImportedSet
from tenor.errors import BadInput
from tenor.reading import reading


def read_source(path: Path) -> ImportedSet:
    """What a file or folder holds."""
    if not path.exists():
        raise BadInput(f"there is no {path}")
    with reading(str(path)):
        return _read(path)


def _read(path: Path) -> ImportedSet:
    if path.is_file():
        return read_manifests([path])
    readers: list[tuple[object, Callable[[], ImportedSet]]] = [
        (is_calls_folder(path), lambda: read_calls(path)),
        (is_slots_folder(path), lambda: read_slots(path)),
        (is_librispeech(path), lambda: read_librispeech(path)),
        (manifests_in(path), lambda: read_manifests(manifests_in(path), inside=path)),
    ]
    for fits, read in readers:
        if fits:
            return read()
    return read_tree(path)
