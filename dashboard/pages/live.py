"""Live: all calls now, worst first, pushed from the bus. The part in the browser does the work."""

from __future__ import annotations

import streamlit as st

from dashboard import frame, look, navigation
from storage.database import Database
from storage.viewer import Viewer


def show(viewer: Viewer, database: Database) -> None:
    here = frame.current()
    # `open` is a tile that was clicked; `stale` asks for a new ticket, which this run has made.
    data = here.page(viewer, filters=st.query_params.to_dict())
    live = look.part("live")(key="live", data=data, on_open_change=_ran, on_stale_change=_ran)
    if live.open:
        navigation.go("call", call=live.open)


def _ran() -> None:
    """Streamlit has a value to tell only where it has somebody to call."""
