"""A call as a file to take along, and erasing one: for those who may, with a line in the audit trail."""

# Annotations are evaluated where they stand: FastAPI could not find `Who` by its name.

import asyncio
import time
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, HTTPException, Response

from dashboard.api import models
from dashboard.api.auth import ApiAuth, Requester
from dashboard.api.changes import changing
from dashboard.api.errors import RESPONSES
from storage.db.engine import Database
from storage.privacy.erasure import erase
from storage.queries import calls
from storage.tables import Audit
from storage.transfer import exporter
from storage.viewer import Viewer
from tenor.settings import Settings

TYPES: dict[exporter.Format, str] = {
    "vcon": "application/vcon+json",
    "json": "application/json",
    "csv": "text/csv",
    "txt": "text/plain",
    "srt": "application/x-subrip",
}
_REFUSED: dict[int | str, dict[str, Any]] = {
    403: {"description": "This role does not do that", "content": RESPONSES[404]["content"]}
}
_FILE: dict[int | str, dict[str, Any]] = {200: {"content": {kind: {} for kind in TYPES.values()}}}


def router(settings: Settings, database: Database, auth: ApiAuth, origins: list[str]) -> APIRouter:
    made = APIRouter(responses={**RESPONSES, **_REFUSED}, tags=["calls"])
    Who = Annotated[Requester, Depends(auth.requester)]  # noqa: N806
    Changes = Annotated[Requester, Depends(changing(auth, origins))]  # noqa: N806

    @made.get("/calls/{call:path}/export", response_class=Response, responses=_FILE)
    def export_call(who: Who, call: str, form: exporter.Format = "vcon", audio: bool = False) -> Response:
        """A call as `tenor export` writes it. `audio`: vCon and JSON hold the recording."""
        who.viewer.must_export()
        text = _exported(settings, database, who.viewer, call, form, audio=audio)
        name = exporter.file_name(call) + exporter.SUFFIX[form]
        headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "private, no-store"}
        return Response(text.encode("utf-8", "replace"), media_type=TYPES[form], headers=headers)

    @made.post("/calls/{call:path}/erase")
    async def erase_call(who: Changes, call: str) -> models.ErasureReceipt:
        """Delete a call for good, as `tenor erase --call` does: rows, recording, archive, search index and bus. There
        is no way back."""
        who.viewer.must_erase()
        await asyncio.to_thread(_check, database, who.viewer, call)
        receipt = await erase(database, settings, by=who.viewer.name, call=call)
        return models.ErasureReceipt.model_validate(msgspec.to_builtins(receipt))

    return made


def _exported(
    settings: Settings, database: Database, viewer: Viewer, call: str, form: exporter.Format, *, audio: bool
) -> str:
    with database.begin() as session:
        whole = calls.whole(session, viewer, call)
        if whole is None:
            raise HTTPException(404, "there is no such call, or none that you may see")
        recording = exporter.recording_of(settings, whole) if audio else None
        session.add(
            Audit(at=time.time(), who=viewer.name, action="call.exported", subject=call, detail={"format": form})
        )
        return exporter.render(session, whole, form, recording)


def _check(database: Database, viewer: Viewer, call: str) -> None:
    with database.session() as session:
        if calls.find(session, viewer, call) is None:
            raise HTTPException(404, "there is no such call, or none that you may see")
