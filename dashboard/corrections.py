"""Notes to agents, and labels of sentences: what people write on pages and through the API, with the same checks."""

from __future__ import annotations

import asyncio
import time
import uuid
from typing import Any

from dashboard.routes import snapshot
from dashboard.routes.denied import Denied
from storage.db.engine import Database
from storage.labels.allowed import allowed_names
from storage.labels.labels import correct
from storage.labels.publisher import LabelPublisher
from storage.tables import Audit
from storage.viewer import Role, Viewer
from tenor.bus import Bus
from tenor.events import NOTES, Note
from tenor.model_store.store import language_in_force
from tenor.settings import Settings

LONGEST_NOTE = 2000
WRITES_NOTES: tuple[Role, ...] = ("manager", "administrator")


class Corrections:
    def __init__(self, bus: Bus, database: Database, publisher: LabelPublisher, settings: Settings) -> None:
        self._bus, self._database, self._publisher, self._settings = bus, database, publisher, settings

    async def note(self, viewer: Viewer, call: str, text: str, sentence: str = "") -> Note:
        """From a manager to the agent on a call, about the call or a sentence of it."""
        if viewer.role not in WRITES_NOTES:
            raise Denied(403, f"your role, {viewer.role}, does not write notes")
        text = text.strip()
        if not text or len(text) > LONGEST_NOTE:
            raise Denied(400, f"a note has 1 to {LONGEST_NOTE} characters")
        await asyncio.to_thread(self._note_down, viewer, call)
        note, at = uuid.uuid4().hex, time.time()
        event = Note(call=call, note=note, author=viewer.name, text=text, at=at, sentence=sentence)
        await self._bus.publish(NOTES, event)
        return event

    async def label(
        self, viewer: Viewer, sentence: str, kind: str, value: str, seconds: float | None = None
    ) -> dict[str, Any]:
        """What a sentence should have been, and how it stands now."""
        corrected = await asyncio.to_thread(self._label, viewer, sentence, kind, value, seconds)
        self._publisher.wake()
        return corrected

    def _note_down(self, viewer: Viewer, call: str) -> None:
        if snapshot.agent_of(self._database, viewer, call) is None:
            raise Denied(404, "there is no such call")
        with self._database.begin() as session:
            session.add(Audit(at=time.time(), who=viewer.name, action="note.written", subject=call))

    def _label(self, viewer: Viewer, sentence: str, kind: str, value: str, seconds: float | None) -> dict[str, Any]:
        with self._database.begin() as session:
            names = allowed_names(session, language_in_force(self._settings))
            correct(session, viewer, sentence, kind, value, names=names, seconds=seconds)
            return snapshot.corrected_in(session, sentence) or {}
