"""Call: one conversation with everything known about it, while it happens and afterwards."""

from __future__ import annotations

from urllib.parse import parse_qsl

import streamlit as st

from dashboard.context import PageContext, current_context
from dashboard.routes import recordings
from dashboard.ui import elements, filters, formatting, navigation, theme
from storage.db.engine import Database
from storage.queries import calls, history
from storage.queries.people import names_on
from storage.summaries import in_a_line
from storage.viewer import Viewer

RECENT = 100
STATES = {"analysed": "", "ended": "being analysed"}
"""What a list says of a call beside its time; of most calls nothing, because they are over."""


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
    """Without a call in the address: the latest ones, of all or of those that are wanted."""
    elements.heading("Calls" if viewer.sees_all else "My calls", "those of now and of the past, the newest first")
    with database.session() as session:
        some = calls.page(session, viewer, limit=1).calls
        people = history.agents(session, viewer)
        tasks, queues = (history.values(session, viewer, column) for column in ("task", "queue"))
        customers = history.customers(session, viewer, limit=history.MOST)
    if not some:
        elements.empty_state("No calls yet", "They appear here the moment they begin. To see some:", "tenor demo")
        return
    wanted = _wanted(viewer, people, {one.id: one.name for one in customers}, tasks, queues)
    with database.session() as session:
        found = calls.page(session, viewer, wanted, limit=RECENT)
        names = names_on(session, viewer, found.calls)
    if not found.calls:
        elements.empty_state("No call matches", "Try fewer conditions, or a longer time.")
        return
    for call in found.calls:
        agent, customer = (names.get(one, one) for one in (call.agent, call.customer))
        title = (agent or call.id) + (f" with {customer}" if customer else "")
        told = in_a_line(call) or formatting.intent(call.task)
        state = STATES.get(call.state, call.state)
        about = [formatting.moment(call.started_at), call.queue, told, context.codes.get(call.wrap_up), state]
        link = navigation.address("call", call=call.id)
        elements.link_row(title, " · ".join(filter(None, about)), link, mood=call.mood_caller)
    if found.after:
        st.caption(f"Shown: the newest {RECENT}. Narrow them down above to see earlier ones.")


def _wanted(
    viewer: Viewer, people: dict[str, history.Person], customers: dict[str, str], tasks: list[str], queues: list[str]
) -> calls.CallFilter:
    """The filters; all of them are in the address."""
    with st.container(horizontal=True):
        agents = {name: person.name for name, person in people.items()}
        agent = filters.person("Agent", agents, "agent", "Everyone") if viewer.sees_all else ""
        customer = filters.person("Customer", customers, "customer", "All customers") if customers else ""
        queue = filters.choice("Queue", queues, "queue")
        task = filters.choice("Call about", tasks, "task")
        mood = filters.choice("Caller's mood", [*theme.SENTIMENT_SHAPES], "mood")
        when = filters.when()
    return calls.CallFilter(agent=agent, customer=customer, queue=queue, task=task, mood=mood, **when)  # type: ignore[arg-type]


def _ran() -> None:
    """Streamlit has a value to tell only where it has somebody to call."""
