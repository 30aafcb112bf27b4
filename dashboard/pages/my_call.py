"""My call: the call at hand, for the agent on it."""

from __future__ import annotations

from dashboard import frame, look, navigation
from storage.database import Database
from storage.viewer import Viewer


def show(viewer: Viewer, database: Database) -> None:
    here = frame.current()
    part = look.part("my_call", "cards")(
        key="my call", data=here.page(viewer), on_open_change=_ran, on_stale_change=_ran
    )
    if part.open:
        navigation.go("call", call=part.open)


def _ran() -> None:
    """Streamlit has a value to tell only where it has somebody to call."""
