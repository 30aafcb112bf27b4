"""A bundle goes to another site with equal hashes; one that is hostile is refused, and nothing of it stays."""

from __future__ import annotations

import io
import pickle
import tarfile
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest

from storage.archive import tables
from storage.archive.blobs import BlobStore
from storage.datasets import DatasetVersion, listing, open_dataset
from storage.datasets.bundle import export_bundle, import_bundle
from storage.datasets.importing import import_dataset
from storage.datasets.manifest import ROWS, content_hash
from storage.place import Place
from tenor.errors import BadInput
from tenor.settings import Settings
from tests.storage.datasets.material import calls_folder


@pytest.fixture
def here(tmp_path: Path) -> Settings:
    settings = Settings(home=tmp_path / "here")
    import_dataset(settings, calls_folder(tmp_path / "train", calls=3), "hv", by="root")
    return settings


@pytest.fixture
def there(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "there")


def only(settings: Settings) -> DatasetVersion:
    (version,) = listing(Place(settings.learn_url))
    return version


def test_it_arrives_with_the_same_hash_and_the_same_rows(here: Settings, there: Settings, tmp_path: Path) -> None:
    made = only(here)
    export_bundle(Place(here.learn_url), made, tmp_path / "hv.tar")
    export_bundle(Place(here.learn_url), made, tmp_path / "again.tar")
    assert (tmp_path / "hv.tar").read_bytes() == (tmp_path / "again.tar").read_bytes()

    arrived = import_bundle(there, tmp_path / "hv.tar")

    assert arrived == made
    with open_dataset(here, "hv") as ours, open_dataset(there, "hv") as theirs:
        for mine, other in zip(ours.rows(), theirs.rows(), strict=True):
            assert Path(mine.audio or "").read_bytes() == Path(other.audio or "").read_bytes()
            assert msgspec.structs.replace(mine, audio=None) == msgspec.structs.replace(other, audio=None)
    assert import_bundle(there, tmp_path / "hv.tar") == arrived
    assert import_bundle(there, tmp_path / "hv.tar", "other").hash == made.hash
    assert len(list(listing(Place(there.learn_url)))) == 2


def bundle(path: Path, members: list[tuple[str, bytes]], kind: bytes = tarfile.REGTYPE) -> Path:
    with tarfile.open(path, "w") as tar:
        for name, content in members:
            member = tarfile.TarInfo(name)
            member.size, member.type, member.linkname = len(content), kind, "/etc/passwd"
            tar.addfile(member, io.BytesIO(content))
    return path


def refused(settings: Settings, path: Path, complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        import_bundle(settings, path)
    place = Place(settings.learn_url)
    assert list(listing(place)) == []
    assert BlobStore(place).all() == []


def test_what_does_not_belong_into_it_is_refused(here: Settings, there: Settings, tmp_path: Path) -> None:
    made, path = only(here), tmp_path / "bad.tar"
    blobs = BlobStore(Place(here.learn_url))
    head = ("dataset.json", msgspec.json.encode(made))
    whole = [(f"blobs/{sha256}", blobs.get(sha256)) for sha256 in blobs.all()]
    for name in ("../../etc/cron.d/x", "/etc/passwd", "blobs/../../x", "blobs/" + "0" * 63, "model.pkl"):
        refused(there, bundle(path, [head, (name, b"x"), *whole]), "does not belong")
    refused(there, bundle(path, [head], kind=tarfile.SYMTYPE), "no plain file")
    refused(there, bundle(path, [head, *whole[:-1]]), "missing")
    refused(there, bundle(path, [head, (whole[0][0], b"another"), *whole]), "not what its name says")
    refused(there, bundle(path, [*whole, head]), "begins with")
    refused(there, bundle(path, []), "empty")
    refused(there, bundle(path, [("dataset.json", b'{"name": 3}')]), "dataset.json")
    renamed = msgspec.structs.replace(made, name="../../x")
    refused(there, bundle(path, [("dataset.json", msgspec.json.encode(renamed)), *whole]), "name of a dataset")
    forged = msgspec.structs.replace(made, hash="0" * 64)
    refused(there, bundle(path, [("dataset.json", msgspec.json.encode(forged)), *whole]), "hash is not")
    bundle(path, [head, *whole])
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    refused(there, path, "no tar|cut short|missing")
    path.write_bytes(b"\x1f\x8b not a tar")
    refused(there, path, "no tar")


class Owned:
    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (Path("owned"),)


def test_a_pickle_is_never_loaded_and_a_bomb_never_opened(
    here: Settings, there: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = only(here)
    blobs = BlobStore(Place(here.learn_url))
    whole = [(f"blobs/{sha256}", blobs.get(sha256)) for sha256 in blobs.all()]
    once = pa.DictionaryArray.from_arrays(pa.array([0] * 50_000, pa.int32()), pa.array(["x" * 100_000]))
    others = {field.name: pa.nulls(50_000, field.type) for field in ROWS}
    bomb = tables.to_bytes(pa.table({**others, "call": once}))  # five gigabytes of text in a small file
    assert len(bomb) < 1_000_000
    for content, complaint in ((pickle.dumps(Owned()), "no table"), (bomb, "fill the memory")):
        sha256 = BlobStore(Place(str(tmp_path / "scratch"))).put(content)
        version = msgspec.structs.replace(made, rows=sha256, hash=content_hash(sha256, made.parts))
        members = [("dataset.json", msgspec.json.encode(version)), (f"blobs/{sha256}", content), *whole]
        refused(there, bundle(tmp_path / "bad.tar", members), complaint)
    assert not (tmp_path / "owned").exists()
