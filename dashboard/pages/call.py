"""Call: one conversation with everything known about it, while it happens and afterwards."""

from __future__ import annotations

from urllib.parse import parse_qsl

import streamlit as st

from dashboard import audio, choices, frame, look, navigation
from storage import calls, people
from storage.database import Database
from storage.viewer import Viewer

RECENT = 100


def show(viewer: Viewer, database: Database) -> None:
    here = frame.current()
    call = st.query_params.get("call", "")
    if not call:
        _choose(viewer, database)
        return
    data = here.page(
        viewer,
        call=call,
        pages=navigation.titles(),
        sentence=st.query_params.get("sentence", ""),
        audio=audio.address(here.tickets, viewer, call, here.sign_in.lasts_s),
        intents=choices.intents(here.settings),
        sentiments=choices.sentiments(here.settings),
    )
    part = look.part("call", "cards")(key=f"call {call}", data=data, on_back_change=_ran, on_stale_change=_ran)
    if part.back:
        # The filters that Live was left with.
        navigation.go("live", **dict(parse_qsl(part.back.removeprefix("?"))))


def _choose(viewer: Viewer, database: Database) -> None:
    """Without a call in the address: the latest ones."""
    look.heading("Call", "Choose one, or open it from another page")
    with database.session() as session:
        found = calls.page(session, viewer, limit=RECENT).calls
        names = people.names_on(session, viewer, found)
    if not found:
        look.empty("No calls yet", "They appear here the moment they begin. To see some:", "tenor demo")
        return
    for call in found:
        agent, customer = (names.get(one, one) for one in (call.agent, call.customer))
        title = (agent or call.id) + (f" with {customer}" if customer else "")
        about = [look.moment(call.started_at), call.queue, look.wanted(call.task), call.state]
        link = navigation.address("call", call=call.id)
        look.line(title, " · ".join(filter(None, about)), link, mood=call.mood_caller)


def _ran() -> None:
    """Streamlit has a value to tell only where it has somebody to call."""
