"""A model as one file, to be carried to another site: the same bytes there, so the same hash.

Whoever sends a bundle is not trusted: names that lead elsewhere, files that swell, links and pickles are refused before
anything is written outside a folder of our own.
"""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path, PurePosixPath

from storage.registry.folders import MOST_BYTES, MOST_FILES, check_file, check_name, new_part
from storage.registry.registry import ModelVersion, Registry
from storage.viewer import Viewer
from tenor.errors import BadInput
from tenor.model_store.card import CARD, KINDS, read_card
from tenor.model_store.digest import digest_of, file_hashes, is_file_name, verify
from tenor.reading import reading

BLOCK = 1 << 20
EPOCH = (1980, 1, 1, 0, 0, 0)
"""Of every file: so the same model gives the same bundle."""
MOST_RATIO = 200
"""How much larger a file may become than it is packed; weights hardly shrink at all."""


def export_bundle(registry: Registry, version: ModelVersion, target: Path) -> Path:
    """Write NAME-N.zip, whole or not at all; into a folder under its own name."""
    if version.ships:
        raise BadInput(f"{version.id} ships with Tenor", "it is there wherever Tenor is installed")
    folder = registry.path(version)
    verify(folder, version.sha256)
    target = target / f"{version.id}.zip" if target.is_dir() else target
    part = target.with_name(f".{target.name}.part")
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as bundle:
            for name in sorted(file_hashes(folder)):
                entry = zipfile.ZipInfo(f"{version.id}/{name}", EPOCH)
                entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
                with bundle.open(entry, "w", force_zip64=True) as packed, (folder / name).open("rb") as file:
                    shutil.copyfileobj(file, packed, BLOCK)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return target


def import_bundle(
    registry: Registry, viewer: Viewer, bundle: Path, *, name: str = "", why: str = "", expected: str = ""
) -> ModelVersion:
    """Register what a bundle holds, under the id that it has; under `name` it becomes a version of its own, whose hash
    is another because its card says so. `expected`: the only id that it may have. Again, it changes nothing."""
    part = new_part(registry.folder)
    try:
        with reading(str(bundle)):
            model = _unpack(bundle, part)
            card = read_card(part)
            hashes = file_hashes(part)
        known = {file: sha256 for file, sha256 in hashes.items() if file != CARD}
        if f"{card.name}-{card.version}" != model or card.kind not in KINDS or known != card.files:
            raise BadInput(f"{bundle} is not a bundle of the registry: its files are not those that its card lists")
        check_name(card.name)
        if expected not in ("", model):
            raise BadInput(f"this is the bundle of {model}, not of {expected[:80]}")
        if name:
            origin = {"origin": f"{model}@{digest_of(hashes)}"}
            return registry.add(viewer, part, name=name, why=why or f"imported from {model}", origin=origin)
        there = next((one for one in registry.versions() if one.id == model), None)
        if there is not None and there.sha256 == digest_of(hashes):
            return there
        return registry.take_in(viewer, part, model, why or f"imported from {bundle.name}")
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _unpack(path: Path, part: Path) -> str:
    """Into a flat folder; the id of the model in it."""
    try:
        with zipfile.ZipFile(path) as bundle:
            entries = bundle.infolist()
            if not entries or len(entries) > MOST_FILES:
                raise BadInput(f"{path} holds {len(entries)} files", f"a bundle has at most {MOST_FILES}")
            models, left = set(), MOST_BYTES
            for entry in entries:
                model, file = _parts(path, entry)
                models.add(model)
                if (part / file).exists():
                    raise BadInput(f"{path} holds {file} twice")
                left -= _extract(bundle, entry, part / file, left)
                check_file(part / file)
    except FileNotFoundError:
        raise BadInput(f"there is no {path}") from None
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise BadInput(f"{path} is no bundle, or half of one: {error}") from None
    if len(models) != 1:
        raise BadInput(f"{path} holds {len(models)} folders", "a bundle holds one model")
    return models.pop()


def _parts(path: Path, entry: zipfile.ZipInfo) -> tuple[str, str]:
    parts = PurePosixPath(entry.filename).parts
    link = (entry.external_attr >> 16) & 0o170000 == 0o120000
    if len(parts) != 2 or link or "\\" in entry.filename or not all(is_file_name(one) for one in parts):
        raise BadInput(
            f"{path}: {entry.filename!r} does not belong in a bundle", "it holds NAME-N/FILE and nothing else"
        )
    return parts[0], parts[1]


def _extract(bundle: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path, left: int) -> int:
    """Never more than fits; what the entry says of its own size is not believed."""
    most = min(left, max(entry.compress_size, 1024) * MOST_RATIO)
    written = 0
    with bundle.open(entry) as packed, target.open("xb") as file:
        while block := packed.read(BLOCK):
            written += len(block)
            if written > most:
                raise BadInput(f"{entry.filename} becomes larger than a model's file may be", "it may be a zip bomb")
            file.write(block)
    return written
