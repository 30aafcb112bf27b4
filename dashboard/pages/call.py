"""Call: one conversation with everything known about it, while it happens and afterwards."""

from __future__ import annotations

from urllib.parse import parse_qsl

import streamlit as st

from dashboard.context import PageContext, current_context
from dashboard.routes import recordings
from dashboard.ui import elements, formatting, navigation
from storage.db.engine import Database
from storage.queries import calls, people
from storage.summaries import in_a_line
from storage.viewer import Viewer

RECENT = 100


def show(viewer: Viewer, database: Database) -> None:
    context = current_context()
    call = st.query_params.get("call", "")
    if not call:
        _choose(viewer, database, context)
        return
    names = context.names()
    data = context.page(
        viewer,
        call=call,
        codes=context.codes,
        pages=navigation.titles(),
        sentence=st.query_params.get("sentence", ""),
        audio=recordings.recording_url(context.tokens, viewer, call, context.sign_in.lasts_s),
        listen=viewer.role != "agent" and bool(context.settings.dashboard.listen.get(viewer.role)),
        intents=names.intents,
        tasks=context.tasks(),
        sentiments=names.sentiments[::-1],
    )
    component = elements.component("call", "cards", "takeover")(
        key=f"call {call}", data=data, on_back_change=_ran, on_stale_change=_ran
    )
    if component.back:
        # The filters that Live was left with.
        navigation.go("live", **dict(parse_qsl(component.back.removeprefix("?"))))


def _choose(viewer: Viewer, database: Database, context: PageContext) -> None:
    """Without a call in the address: the latest ones."""
    elements.heading("Call", "Choose one, or open it from another page")
    with database.session() as session:
        found = calls.page(session, viewer, limit=RECENT).calls
        names = people.names_on(session, viewer, found)
    if not found:
        elements.empty_state("No calls yet", "They appear here the moment they begin. To see some:", "tenor demo")
        return
    for call in found:
        agent, customer = (names.get(one, one) for one in (call.agent, call.customer))
        title = (agent or call.id) + (f" with {customer}" if customer else "")
        told = in_a_line(call) or formatting.intent(call.task)
        about = [formatting.moment(call.started_at), call.queue, told, context.codes.get(call.wrap_up), call.state]
        link = navigation.address("call", call=call.id)
        elements.link_row(title, " · ".join(filter(None, about)), link, mood=call.mood_caller)


def _ran() -> None:
    """Streamlit has a value to tell only where it has somebody to call."""
