"""My call: the call at hand, for the agent on it, and the conversations of the assistant that wait for a person."""

from __future__ import annotations

from dashboard.context import current_context
from dashboard.ui import elements, navigation
from storage.db.engine import Database
from storage.viewer import Viewer


def show(viewer: Viewer, database: Database) -> None:
    context = current_context()
    component = elements.component("my_call", "cards", "takeover")(
        key="my call",
        data=context.page(viewer, codes=context.codes, tasks=context.tasks()),
        on_open_change=_ran,
        on_stale_change=_ran,
    )
    if component.open:
        navigation.go("call", call=component.open)


def _ran() -> None:
    """Streamlit has a value to tell only where it has somebody to call."""
