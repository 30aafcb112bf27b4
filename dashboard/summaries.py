"""What people do with the summary of a call: put a point of it right, and say with a code how the call ended. On pages
and through the API, with the same checks: whoever may see a call may do it, and the audit trail says who did."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from dashboard.routes.denied import Denied
from storage.db.engine import Database
from storage.queries import calls
from storage.summaries import OUTCOME, OUTCOMES
from storage.tables import Audit
from storage.viewer import Viewer
from tenor.bus import Bus
from tenor.errors import BadInput
from tenor.events import NOTES, SummaryMended, WrapUp
from tenor.settings import Settings
from tenor.yaml import fields
from tenor.yaml.nodes import Faults, meant, read

DEFAULT = Path(__file__).parent / "wrap_up.yaml"
LONGEST = 500
"""Characters of a point that a person writes."""


def read_codes(path: Path | None = None) -> dict[str, str]:
    """The codes of a file with a text for each, ours when none is given; Faulty tells everything that is wrong."""
    path = path or DEFAULT
    faults = Faults()
    tree = read(path, faults)
    codes = {key.value: fields.text(node, faults, f"the text of {key.value!r}") or "" for key, node in tree}
    if not codes:
        faults.add(tree, "no codes: a mapping is expected, code: text")
    faults.raise_if_any(path)
    return codes


class SummaryChanges:
    def __init__(self, bus: Bus, database: Database, settings: Settings) -> None:
        self._bus, self._database = bus, database
        file = settings.language.wrap_up
        self.codes = read_codes(Path(file) if file else None)

    async def mend(
        self, viewer: Viewer, call: str, point: str, text: str = "", *, withdrawn: bool = False
    ) -> SummaryMended:
        """Put a point right; an empty text strikes it out. `withdrawn`: what the summary said counts again."""
        text = " ".join(text.split())
        if len(text) > LONGEST or "\x00" in text:
            raise BadInput(f"a point has at most {LONGEST} characters")
        if point == OUTCOME and not withdrawn and text not in OUTCOMES:
            raise BadInput(f"there is no outcome {text[:50]!r}{meant(text, OUTCOMES)}", f"one of {', '.join(OUTCOMES)}")
        await asyncio.to_thread(self._note_down, viewer, call, "summary.mended", point)
        event = SummaryMended(
            call=call, point=point, text=text, author=viewer.name, at=time.time(), withdrawn=withdrawn
        )
        await self._bus.publish(NOTES, event)
        return event

    async def wrap_up(self, viewer: Viewer, call: str, code: str) -> WrapUp:
        """Say how the call ended; an empty code takes back what was said."""
        if code and code not in self.codes:
            raise BadInput(
                f"there is no code {code[:50]!r}{meant(code, self.codes)}", f"one of {', '.join(self.codes)}"
            )
        await asyncio.to_thread(self._note_down, viewer, call, "call.wrapped_up")
        event = WrapUp(call=call, code=code, author=viewer.name, at=time.time())
        await self._bus.publish(NOTES, event)
        return event

    def _note_down(self, viewer: Viewer, call: str, action: str, point: str = "") -> None:
        with self._database.begin() as session:
            found = calls.find(session, viewer, call)
            if found is None:
                raise Denied(404, "there is no such call")
            known = {OUTCOME, *found.mended, *(one["id"] for one in found.summary.get("points", ()))}
            if point and point not in known:
                raise BadInput(f"the summary of this call has no point {point[:100]!r}")
            session.add(Audit(at=time.time(), who=viewer.name, action=action, subject=call))
