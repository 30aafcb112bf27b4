"""Customers: one person's calls, chats and e-mails together, and who may need a call back."""

from __future__ import annotations

import altair as alt
import streamlit as st

from dashboard import filters, listing, look, lookback, navigation, plots, tiles
from storage import history
from storage.database import Database
from storage.history import Scope, Tally
from storage.people import customer_names
from storage.periods import Period, Step
from storage.tables import Call
from storage.viewer import Viewer

OFTEN = 500
"""Calls of one customer that are drawn."""
LISTED = 50
"""Customers of a list."""


def show(viewer: Viewer, database: Database) -> None:
    listing.dress()
    look.heading("Customers", "everything one customer said, on every medium")
    with st.container(horizontal=True):
        words = st.text_input(
            "Find", key="find", bind="query-params", placeholder="name or number", icon=":material/search:",
            width=170, on_change=lambda: st.session_state.update(chosen_customer=""),
        )  # fmt: skip
        people = _people(viewer, database, words or "")
        customer = filters.person("Customer", people, "customer", "All customers")
        period = filters.period("8 weeks")
        step = filters.step(period) if customer else "day"
    if customer:
        _one(viewer, database, customer, period, step)
    elif (words or "").strip():
        _found(people)
    else:
        _everyone(viewer, database, period)


def _people(viewer: Viewer, database: Database, words: str) -> dict[str, str]:
    """Who called last, of all customers or of those with these words in name or number; the only one is chosen."""
    with database.session() as session:
        people = history.customers(session, viewer, words, limit=history.MOST)
        wanted = st.session_state.get("chosen_customer") or st.query_params.get("customer", "")
        if wanted and not words.strip() and wanted not in {person.id for person in people}:
            people += history.customers(session, viewer, wanted, 1)
    if words.strip() and len(people) == 1:
        st.session_state["chosen_customer"] = people[0].id
    return {person.id: f"{person.name} · {person.id}" if person.name != person.id else person.id for person in people}


def _found(people: dict[str, str]) -> None:
    if not people:
        look.empty("Nobody found", "Try a shorter part of the name or number.")
        return
    few = len(people) <= LISTED
    tiles.section("Found", f"{len(people)} customers" if few else f"the {LISTED} who called last; type more to narrow")
    for one, name in list(people.items())[:LISTED]:
        look.line(name, "", navigation.address("customers", customer=one))


def _one(viewer: Viewer, database: Database, customer: str, period: Period, step: Step) -> None:
    scope = Scope(customer=customer)
    with database.session() as session:
        media = history.by_medium(session, viewer, scope, period)
        tasks = history.by_task(session, viewer, scope, period)
        served = history.by_agent(session, viewer, scope, period)
        names = {name: person.name for name, person in history.agents(session, viewer).items()}
        names |= customer_names(session, [customer])
        single = history.calls(session, viewer, scope, period, limit=OFTEN)
    subject = lookback.read(database, viewer, names.get(customer, customer), scope, period, None)
    listing.sample_mark(subject.own.sample > 0)
    if not subject.own.calls:
        look.empty("No calls in this period", f"{subject.name} did not call. Choose a longer period above.")
        return
    lookback.show_tiles(subject)
    chosen = lookback.show_curves(subject, step)
    tiles.section("Every contact", "a mark each; colour and height: how the customer felt")
    plots.show(_contacts(single))
    columns = st.columns(3)
    groups: list[tuple[str, dict[str, Tally]]] = [
        ("By medium", media), ("By reason", {look.words(task): tally for task, tally in tasks.items()}),
        ("Served by", {names.get(name, name): tally for name, tally in served.items()}),
    ]  # fmt: skip
    for column, (title, tallies) in zip(columns, groups, strict=True):
        with column:
            tiles.section(title)
            plots.show(plots.bars(list(tallies.items())[:10], "Calls"))
    lookback.show_calls(database, viewer, subject, chosen, step, names)


def _everyone(viewer: Viewer, database: Database, period: Period) -> None:
    with database.session() as session:
        tallies = history.by_customer(session, viewer, Scope(), period)
        names = customer_names(session, list(tallies))
    if not tallies:
        look.empty(
            "No customers yet",
            "Calls that come with a customer's number gather here. To look around:",
            "tenor sample add",
        )
        return
    listing.sample_mark(any(tally.sample for tally in tallies.values()))
    about = "larger: more escalations · fainter: under ten contacts · click a mark to look closer"
    if len(tallies) == history.MOST:
        about += f" · the busiest {history.MOST}; anyone else by Find"
    tiles.section("Who calls often, and how they feel", about)
    if chosen := plots.show(_crowd(tallies, names), choose="customer", key="crowd").get("id"):
        filters.choose("customer", chosen)
    listing.download(
        "Customers",
        "all",
        [
            {"customer": one, "name": names.get(one, one), "calls": tally.calls,
             "mood_caller": tally["mood_caller"].mean, "escalated": tally["escalated"].total}
            for one, tally in tallies.items()
        ],
    )  # fmt: skip


def _crowd(tallies: dict[str, Tally], names: dict[str, str]) -> plots.Plot:
    rows = [
        {"id": one, "name": names.get(one, one), "calls": tally.calls, "mood": tally["mood_caller"].mean,
         "escalated": round(tally["escalated"].total), "note": "too few to compare" if tally.calls < 10 else ""}
        for one, tally in tallies.items()
        if tally["mood_caller"].n
    ]  # fmt: skip
    chosen = alt.selection_point(name="customer", fields=["id"], on="click", toggle=False)
    return (
        plots.chart(rows)
        .mark_point(filled=True, cursor="pointer")
        .encode(
            x=alt.X("calls:Q", title="Contacts", axis=alt.Axis(tickMinStep=1)),
            y=alt.Y("mood:Q", title="Mood", scale=alt.Scale(nice=True)),
            size=alt.Size("escalated:Q", scale=alt.Scale(domain=[0, 10], range=[60, 420], clamp=True), legend=None),
            color=alt.Color("mood:Q", scale=plots.MOOD, legend=None),
            opacity=alt.condition("datum.calls < 10", alt.value(0.6), alt.value(1)),
            tooltip=[alt.Tooltip("name:N", title="Customer"), alt.Tooltip("calls:Q", title="Contacts"),
                     alt.Tooltip("mood:Q", title="Mood", format="+.2f"), alt.Tooltip("escalated:Q", title="Escalated"),
                     alt.Tooltip("note:N", title=" ")],
        )
        .add_params(chosen)
        .properties(height=420)
    )  # fmt: skip


def _contacts(calls: list[Call]) -> plots.Plot:
    rows = [
        {"at": call.started_at * 1000, "mood": call.mood_caller, "medium": call.medium,
         "about": look.words(call.task or "call"), "escalated": "escalated" if call.escalations else "", "zero": 0}
        for call in calls
        if call.mood_caller is not None
    ]  # fmt: skip
    base = plots.chart(rows).encode(x=alt.X("at:T", title=None, axis=plots.dates(8), scale=alt.Scale(padding=14)))
    y = alt.Y("mood:Q", title="Mood", axis=alt.Axis(tickCount=5), scale=alt.Scale(nice=True, zero=True))
    marks = base.mark_point(filled=True, size=110, opacity=1).encode(
        y=y,
        shape=alt.Shape("medium:N", title=None, legend=alt.Legend(orient="top", symbolFillColor=plots.GREY),
                        scale=alt.Scale(domain=["voice", "chat", "email"], range=["circle", "square", "triangle-up"])),
        color=alt.Color("mood:Q", scale=plots.MOOD, legend=None),
        tooltip=[alt.Tooltip("at:T", title="When", format="%-d %b %H:%M"), "about:N", "medium:N",
                 alt.Tooltip("mood:Q", format="+.2f", title="Mood"), alt.Tooltip("escalated:N", title=" ")],
    )  # fmt: skip
    stems = base.mark_rule(opacity=0.6, color=plots.GREY).encode(y=alt.Y("zero:Q", title="Mood"), y2="mood:Q")
    return alt.layer(stems, marks).properties(height=230)
