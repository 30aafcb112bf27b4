"""Models for labelling tools and sites elsewhere: which there are, and how a new one comes in."""

# Annotations are evaluated where they stand: FastAPI could not find `Who` by its name.

import asyncio
import hashlib
import shutil
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query, Request, Response

from dashboard.api import models
from dashboard.api.auth import ApiAuth, Requester
from dashboard.api.caching import ETagRoute
from dashboard.api.changes import changing
from dashboard.api.errors import RESPONSES
from storage.db.engine import Database
from storage.registry.bundles import import_bundle
from storage.registry.folders import new_part
from storage.registry.registry import ModelVersion, Registry
from tenor.settings import Settings

LARGEST_BUNDLE = 1 << 30
"""Bytes of a request: of the models that we make none has a tenth of it."""
_REFUSALS: dict[int | str, dict[str, Any]] = {
    201: {"description": "It is a candidate now", "model": models.ModelVersion},
    403: {"description": "This role does not register models", "content": RESPONSES[404]["content"]},
    413: {"description": f"It is larger than {LARGEST_BUNDLE >> 20} MB", "content": RESPONSES[404]["content"]},
}
_BODY = {
    "requestBody": {
        "required": True,
        "description": "the file that `tenor models export` writes",
        "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}},
    }
}
Sha256 = Annotated[str, Query(pattern="^[0-9a-f]{64}$", description="of the bytes that are sent, in hexadecimal")]


def router(settings: Settings, database: Database, auth: ApiAuth) -> APIRouter:
    made = APIRouter(route_class=ETagRoute, responses=RESPONSES, tags=["models"])
    Who = Annotated[Requester, Depends(auth.requester)]  # noqa: N806
    Changer = Annotated[Requester, Depends(changing(auth, settings.dashboard.api_origins))]  # noqa: N806
    one_at_a_time = asyncio.Lock()

    @made.get("/models")
    def list_models(who: Who) -> list[models.ModelVersion]:
        """Every version, what ships first, then by name and number."""
        return [_answer(version) for version in Registry(database, settings.models_folder).versions()]

    @made.put("/models/{model}", responses=_REFUSALS, openapi_extra=_BODY)
    async def put_model(
        who: Changer, request: Request, response: Response, model: str, sha256: Sha256
    ) -> models.ModelVersion:
        """Register a bundle as a candidate, under the id that it has. It answers nothing until a person promotes it;
        then suggestions are its own. Sent again, it changes nothing."""
        registry = Registry(database, settings.models_folder)
        registry.check_may_register(who.viewer)
        async with one_at_a_time:
            part = await asyncio.to_thread(new_part, registry.folder)
            try:
                bundle = part / "bundle.zip"
                if await _received(request, bundle) != sha256:
                    raise HTTPException(400, "what arrived has another SHA-256: it was cut short or changed on its way")
                known = {version.id for version in await asyncio.to_thread(registry.versions)}
                version = await asyncio.to_thread(
                    import_bundle, registry, who.viewer, bundle, expected=model, why="sent to the API"
                )
            finally:
                await asyncio.to_thread(shutil.rmtree, part, ignore_errors=True)
        response.status_code = 200 if version.id in known else 201
        return _answer(version)

    return made


async def _received(request: Request, target: Path) -> str:
    """Write the body to a file, never more than fits; its hash."""
    told = request.headers.get("content-length", "")
    too_large = HTTPException(413, f"a bundle has at most {LARGEST_BUNDLE >> 20} MB")
    if told.isdigit() and int(told) > LARGEST_BUNDLE:
        raise too_large
    digest, size = hashlib.sha256(), 0
    with target.open("xb") as file:
        async for piece in request.stream():
            size += len(piece)
            if size > LARGEST_BUNDLE:
                raise too_large
            digest.update(piece)
            await asyncio.to_thread(file.write, piece)
    return digest.hexdigest()


def _answer(version: ModelVersion) -> models.ModelVersion:
    return models.ModelVersion.model_validate(version)
