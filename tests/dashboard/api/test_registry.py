"""A model comes in through the API as a candidate, whole or not at all, from those who may."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from dashboard.api import registry as routes
from storage.db.engine import using
from storage.registry.bundles import export_bundle
from storage.registry.registry import Registry
from tenor.settings import Settings
from tests.dashboard.api.test_api import PEOPLE, Served, fill, serving
from tests.storage.registry.test_registry import candidate

ANALYST = next(name for name, role in PEOPLE.items() if role in ("analyst", "administrator"))
AGENT = next(name for name, role in PEOPLE.items() if role == "agent")


@pytest.fixture
async def here(sqlite_settings: Settings) -> AsyncIterator[Served]:
    fill(sqlite_settings)
    async with serving(sqlite_settings) as made:
        yield made


@pytest.fixture
def bundle(tmp_path: Path) -> bytes:
    """Of house-1, made at another site."""
    elsewhere = Settings(home=tmp_path / "elsewhere")
    with using(elsewhere) as database:
        registry = Registry(database, elsewhere.models_folder)
        return export_bundle(registry, candidate(registry, tmp_path / "a"), tmp_path).read_bytes()


async def put(
    here: Served, content: bytes, model: str = "house-1", sha256: str = "", name: str = ANALYST
) -> httpx.Response:
    told = sha256 or hashlib.sha256(content).hexdigest()
    return await here.client.put(
        f"/models/{model}", params={"sha256": told}, content=content, headers=here.headers(name)
    )


def left_behind(settings: Settings) -> list[str]:
    folder = settings.models_folder
    return sorted(path.name for path in folder.iterdir()) if folder and folder.is_dir() else []


async def test_a_bundle_becomes_a_candidate_once(here: Served, bundle: bytes, sqlite_settings: Settings) -> None:
    first = await put(here, bundle)
    again = await put(here, bundle)

    assert (first.status_code, again.status_code) == (201, 200)
    made = first.json()
    assert (made["id"], made["kind"], made["state"], made["by"]) == ("house-1", "language", "candidate", ANALYST)
    assert made["why"] == "sent to the API"
    assert left_behind(sqlite_settings) == ["house-1"]
    listed = (await here.get("/models", AGENT)).json()
    assert [one["id"] for one in listed if one["name"] == "house"] == ["house-1"]


async def test_nobody_else_brings_models_in(here: Served, bundle: bytes, sqlite_settings: Settings) -> None:
    assert (await put(here, bundle, name=AGENT)).status_code == 403
    told = hashlib.sha256(bundle).hexdigest()
    assert (await here.client.put("/models/house-1", params={"sha256": told}, content=bundle)).status_code == 401
    assert (await here.client.get("/models")).status_code == 401
    assert left_behind(sqlite_settings) == []


async def test_what_is_not_whole_or_not_what_it_says_is_refused_and_leaves_nothing(
    here: Served, bundle: bytes, sqlite_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = await put(here, bundle[:-20], sha256=hashlib.sha256(bundle).hexdigest())
    assert (other.status_code, "another SHA-256" in other.json()["detail"]) == (400, True)
    assert (await put(here, bundle[:-20])).status_code == 400, "half a zip, whose hash is right"
    renamed = await put(here, bundle, model="house-2")
    assert (renamed.status_code, "bundle of house-1" in renamed.json()["detail"]) == (400, True)
    assert (await put(here, b"\x80\x04pickle")).status_code == 400
    assert (await put(here, b"", sha256="no hash")).status_code == 422
    monkeypatch.setattr(routes, "LARGEST_BUNDLE", 100)
    assert (await put(here, bundle)).status_code == 413
    told = {"sha256": hashlib.sha256(bundle).hexdigest()}

    async def pieces() -> AsyncIterator[bytes]:
        yield bundle

    unsized = await here.client.put("/models/house-1", params=told, content=pieces(), headers=here.headers(ANALYST))
    assert unsized.status_code == 413, "the size is counted, not believed"
    assert left_behind(sqlite_settings) == []


async def test_the_specification_tells_it(here: Served) -> None:
    document = (await here.get("/openapi.json")).json()
    told = document["paths"]["/models/{model}"]["put"]
    assert "application/zip" in told["requestBody"]["content"]
    assert {"200", "201", "403", "413"} <= told["responses"].keys()
