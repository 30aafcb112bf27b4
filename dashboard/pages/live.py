"""Live: all calls now, worst first, pushed from the bus. The component in the browser does the work."""

from __future__ import annotations

import streamlit as st

from dashboard.context import current_context
from dashboard.ui import elements, navigation
from storage.db.engine import Database
from storage.viewer import Viewer


def show(viewer: Viewer, database: Database) -> None:
    context = current_context()
    # `open` is a tile that was clicked; `stale` asks for a new token, which this run has made.
    data = context.page(viewer, filters=st.query_params.to_dict())
    component = elements.component("live")(key="live", data=data, on_open_change=_ran, on_stale_change=_ran)
    if component.open:
        navigation.go("call", call=component.open)


def _ran() -> None:
    """Streamlit has a value to tell only where it has somebody to call."""
