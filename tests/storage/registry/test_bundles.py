"""A model carried to another site is the same there, and nothing hostile comes with it."""

from __future__ import annotations

import pickle
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from storage.db.engine import using
from storage.registry.bundles import export_bundle, import_bundle
from storage.registry.folders import check_file
from storage.registry.registry import Registry
from tenor.errors import BadInput
from tenor.settings import Settings
from tests.storage.registry.test_registry import ANN, candidate, small_folder


@pytest.fixture
def sites(tmp_path: Path, new_home: Callable[[Path], Settings]) -> Iterator[tuple[Registry, Registry]]:
    here, there = new_home(tmp_path / "here"), new_home(tmp_path / "there")
    with using(here) as one, using(there) as other:
        yield Registry(one, here.models_folder), Registry(other, there.models_folder)


def test_a_bundle_has_the_same_hash_where_it_arrives(sites: tuple[Registry, Registry], tmp_path: Path) -> None:
    here, there = sites
    version = candidate(here, tmp_path / "a")
    bundle = export_bundle(here, version, tmp_path)
    assert bundle.name == "house-1.zip"
    arrived = import_bundle(there, ANN, bundle)
    assert (arrived.id, arrived.sha256, arrived.state) == (version.id, version.sha256, "candidate")
    assert import_bundle(there, ANN, bundle).sha256 == version.sha256  # again: nothing changes
    assert len(there.versions("language")) == 2
    assert export_bundle(there, arrived, tmp_path / "again.zip").read_bytes() == bundle.read_bytes()


def test_a_name_that_is_taken_is_told_and_another_can_be_given(
    sites: tuple[Registry, Registry], tmp_path: Path
) -> None:
    here, there = sites
    bundle = export_bundle(here, candidate(here, tmp_path / "a"), tmp_path)
    candidate(there, tmp_path / "b")
    with pytest.raises(BadInput, match="already"):
        import_bundle(there, ANN, bundle)
    assert import_bundle(there, ANN, bundle, name="theirs").id == "theirs-1"


def hostile_path(bundle: zipfile.ZipFile) -> None:
    bundle.writestr("../../escaped.json", "{}")


def absolute_path(bundle: zipfile.ZipFile) -> None:
    bundle.writestr("/tmp/escaped.json", "{}")


def backslashes(bundle: zipfile.ZipFile) -> None:
    bundle.writestr("house-1\\..\\escaped.json", "{}")


def nested(bundle: zipfile.ZipFile) -> None:
    bundle.writestr("house-1/deeper/model.onnx", "{}")


def link(bundle: zipfile.ZipFile) -> None:
    entry = zipfile.ZipInfo("house-1/model.onnx")
    entry.external_attr = 0o120777 << 16
    bundle.writestr(entry, "/etc/passwd")


def bomb(bundle: zipfile.ZipFile) -> None:
    bundle.writestr("house-1/model.onnx", b"\0" * 50_000_000, zipfile.ZIP_DEFLATED)


def many(bundle: zipfile.ZipFile) -> None:
    for number in range(300):
        bundle.writestr(f"house-1/{number}.txt", "")


def pickled_name(bundle: zipfile.ZipFile) -> None:
    bundle.writestr("house-1/model.pkl", pickle.dumps({}))


def pickled_bytes(bundle: zipfile.ZipFile) -> None:
    bundle.writestr("house-1/model.bin", pickle.dumps({"a": 1}))


def torch_file(bundle: zipfile.ZipFile) -> None:
    with bundle.open("house-1/model.bin", "w") as inner, zipfile.ZipFile(inner, "w") as weights:
        weights.writestr("archive/data.pkl", pickle.dumps({}))


def pickled_array(bundle: zipfile.ZipFile) -> None:
    with bundle.open("house-1/heads.npz", "w") as inner:
        np.savez(inner, heads=np.array([{}], dtype=object))


def two_models(bundle: zipfile.ZipFile) -> None:
    bundle.writestr("house-1/a.json", "{}")
    bundle.writestr("house-2/a.json", "{}")


def no_card(bundle: zipfile.ZipFile) -> None:
    bundle.writestr("house-1/model.onnx", "x")


def wrong_hash(bundle: zipfile.ZipFile) -> None:
    card = '{"name": "house", "version": "1", "kind": "language", "files": {"model.onnx": "00"}}'
    bundle.writestr("house-1/model.json", card)
    bundle.writestr("house-1/model.onnx", "x")


HOSTILE = [
    hostile_path, absolute_path, backslashes, nested, link, bomb, many, pickled_name, pickled_bytes, torch_file,
    pickled_array, two_models, no_card, wrong_hash,
]  # fmt: skip


@pytest.mark.parametrize("make", HOSTILE, ids=lambda make: make.__name__)
def test_a_hostile_bundle_is_refused_and_leaves_nothing(
    make: Callable[[zipfile.ZipFile], None], sites: tuple[Registry, Registry], tmp_path: Path
) -> None:
    _, there = sites
    path = tmp_path / "bundle.zip"
    with zipfile.ZipFile(path, "w") as bundle:
        make(bundle)
    with pytest.raises(BadInput):
        import_bundle(there, ANN, path)
    assert list(there.folder.iterdir()) == []
    assert not list(tmp_path.rglob("*escaped*"))


def test_arrays_that_swell_are_no_weights(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "zeros.npz", heads=np.zeros(10_000_000, np.int8))
    with pytest.raises(BadInput, match="hardly shrink"):
        check_file(tmp_path / "zeros.npz")
    np.savez_compressed(tmp_path / "heads.npz", heads=np.arange(10_000, dtype=np.float32))
    check_file(tmp_path / "heads.npz")


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04 half of one"])
def test_what_is_no_bundle_is_told(content: bytes, sites: tuple[Registry, Registry], tmp_path: Path) -> None:
    (tmp_path / "bundle.zip").write_bytes(content)
    with pytest.raises(BadInput, match="no bundle"):
        import_bundle(sites[1], ANN, tmp_path / "bundle.zip")
    with pytest.raises(BadInput, match="there is no"):
        import_bundle(sites[1], ANN, tmp_path / "nowhere.zip")


@pytest.mark.parametrize("name", ["weights.pt", "model.pkl", "run.py", ".hidden.json", "run.sh"])
def test_a_folder_with_what_no_model_needs_is_refused(
    name: str, sites: tuple[Registry, Registry], tmp_path: Path
) -> None:
    folder = small_folder(tmp_path / "a")
    (folder / name).write_bytes(b"x")
    with pytest.raises(BadInput, match="does not belong"):
        sites[0].add(ANN, folder, name="house")


def test_a_folder_with_a_link_or_a_folder_is_refused(sites: tuple[Registry, Registry], tmp_path: Path) -> None:
    folder = small_folder(tmp_path / "a")
    (folder / "other.json").symlink_to("/etc/passwd")
    with pytest.raises(BadInput, match="does not belong"):
        sites[0].add(ANN, folder, name="house")


@pytest.mark.parametrize("name", ["tenor-language", "../house", "House", "", "house-", "a" * 60])
def test_a_name_that_cannot_be_is_refused(name: str, sites: tuple[Registry, Registry], tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        sites[0].add(ANN, small_folder(tmp_path / "a"), name=name)
