"""Live: all calls now."""

from __future__ import annotations

import streamlit as st
from sqlmodel import col, select

from dashboard import look, navigation
from storage.database import Database
from storage.tables import Call
from storage.viewer import Viewer


def show(viewer: Viewer, database: Database) -> None:
    with database.session() as session:
        live = select(Call).where(col(Call.state).in_(("ringing", "live")), viewer.clause())
        calls = list(session.exec(live.order_by(col(Call.started_at))))
    look.heading("Live", f"{len(calls)} calls now")
    if not calls:
        look.empty("No calls right now", "They appear here the moment they begin. To see some:", "tenor demo")
    for call in calls:
        st.markdown(f"[{call.agent or call.id}]({navigation.address('call', call=call.id)})")
