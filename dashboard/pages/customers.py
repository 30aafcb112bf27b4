"""Customers: one person's calls, chats and e-mails together, and who may need a call back."""

from __future__ import annotations

import streamlit as st

from dashboard.ui import charts, elements, filters, formatting, history_view, navigation, stat_cards, tables
from storage.db.engine import Database
from storage.queries import history
from storage.queries.aspects import by_aspect
from storage.queries.history import CallStatistics, Scope
from storage.queries.people import customer_names
from storage.queries.periods import Period, Step
from storage.viewer import Viewer

OFTEN = 500
"""Calls of one customer that are drawn."""
LISTED = 50
"""Customers of a list."""


def show(viewer: Viewer, database: Database) -> None:
    tables.apply_styles()
    elements.heading("Customers", "everything one customer said, on every medium")
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
        elements.empty_state("Nobody found", "Try a shorter part of the name or number.")
        return
    few = len(people) <= LISTED
    stat_cards.section(
        "Found", f"{len(people)} customers" if few else f"the {LISTED} who called last; type more to narrow"
    )
    for one, name in list(people.items())[:LISTED]:
        elements.link_row(name, "", navigation.address("customers", customer=one))


def _one(viewer: Viewer, database: Database, customer: str, period: Period, step: Step) -> None:
    scope = Scope(customer=customer)
    with database.session() as session:
        media = history.by_medium(session, viewer, scope, period)
        tasks = history.by_task(session, viewer, scope, period)
        served = history.by_agent(session, viewer, scope, period)
        aspects = _by_word(by_aspect(session, viewer, scope, period))
        names = {name: person.name for name, person in history.agents(session, viewer).items()}
        names |= customer_names(session, [customer])
        single = history.calls(session, viewer, scope, period, limit=OFTEN)
    subject = history_view.load(database, viewer, names.get(customer, customer), scope, period, None)
    tables.sample_notice(subject.own.sample > 0)
    if not subject.own.calls:
        elements.empty_state("No calls in this period", f"{subject.name} did not call. Choose a longer period above.")
        return
    history_view.show_cards(subject)
    chosen = history_view.show_charts(subject, step)
    stat_cards.section("Every contact", "a mark each; colour and height: how the customer felt")
    charts.show(charts.contacts(single))
    groups: list[tuple[str, dict[str, CallStatistics]]] = [
        ("By medium", media), ("By reason", _by_word(tasks)),
        ("Talked about", aspects),
        ("Served by", {names.get(name, name): stats for name, stats in served.items()}),
    ]  # fmt: skip
    columns = st.columns(len(groups))
    for column, (title, statistics) in zip(columns, groups, strict=True):
        with column:
            stat_cards.section(title)
            charts.show(charts.calls_by_group(list(statistics.items())[:10], "Calls"))
    history_view.show_calls(database, viewer, subject, chosen, step, names)


def _by_word(statistics: dict[str, CallStatistics]) -> dict[str, CallStatistics]:
    return {formatting.words(name): stats for name, stats in statistics.items()}


def _everyone(viewer: Viewer, database: Database, period: Period) -> None:
    with database.session() as session:
        statistics = history.by_customer(session, viewer, Scope(), period)
        aspects = _by_word(by_aspect(session, viewer, Scope(), period))
        names = customer_names(session, list(statistics))
    if not statistics:
        elements.empty_state(
            "No customers yet",
            "Calls that come with a customer's number gather here. To look around:",
            "tenor sample add",
        )
        return
    tables.sample_notice(any(stats.sample for stats in statistics.values()))
    about = "larger: more escalations · fainter: under ten contacts · click a mark to look closer"
    if len(statistics) == history.MOST:
        about += f" · the busiest {history.MOST}; anyone else by Find"
    stat_cards.section("Who calls often, and how they feel", about)
    if chosen := charts.show(charts.customers_by_mood(statistics, names), choose="customer", key="crowd").get("id"):
        filters.select("customer", chosen)
    if aspects:
        stat_cards.section("What they talk about", "calls in which a customer speaks of it; colour: how they feel then")
        charts.show(charts.calls_by_group(list(aspects.items()), "Calls"))
    tables.download(
        "Customers",
        "all",
        [
            {"customer": one, "name": names.get(one, one), "calls": stats.calls,
             "mood_caller": stats["mood_caller"].mean, "escalated": stats["escalated"].total}
            for one, stats in statistics.items()
        ],
    )  # fmt: skip
