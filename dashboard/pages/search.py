"""Search: any sentence anyone said, by its words, how it felt, what it wanted, who, when, and what it set off."""

from __future__ import annotations

import time
from datetime import tzinfo
from html import escape
from typing import Any, Literal

import msgspec
import streamlit as st
from sqlmodel import select

from dashboard.context import current_context
from dashboard.ui import charts, elements, filters, formatting, navigation, stat_cards, tables, theme
from storage.db.engine import Database
from storage.labels.allowed import searchable_names
from storage.queries import history
from storage.queries.people import customer_names
from storage.queries.periods import Period
from storage.search import Hit, SearchQuery, Snippet, by_day, from_dict, search
from storage.search.saved import SavedQuery, forget, save, saved
from storage.tables import Model
from storage.viewer import Viewer
from tenor.errors import BadInput
from tenor.model_store.shipped import SHIPPED
from tenor.model_store.store import language_in_force

SHOWN = 50
MOST = 500
"""Sentences of one search; who has more looks for less."""
COUNTED = 100_000
"""Sentences that are counted while the reader waits."""
TIMES = {"Any time": 0, "7 days": 7, "4 weeks": 28, "8 weeks": 56}
MORE = {"intent": "Intent", "task": "Call about", "agent": "Agent", "customer": "Customer", "site": "Site",
        "queue": "Queue", "medium": "Medium", "model": "Model", "rule": "Alert"}  # fmt: skip
FIELDS = ("sentiment", "role", *MORE)
"""Conditions of which several values can be chosen; also their names in the address."""


def show(viewer: Viewer, database: Database) -> None:
    tables.apply_styles()
    elements.heading("Search", "every sentence, as people left it")
    _recall()
    with database.session() as session:
        kept = saved(session, viewer.name)
        options = _options(viewer, database)
    query = _asked(options)
    _saved(viewer, database, kept, query)
    try:
        with database.session() as session:
            began = time.perf_counter()
            found = search(session, viewer, query, limit=MOST)
            days = by_day(session, viewer, query, formatting.zone(), COUNTED)
            took = time.perf_counter() - began
    except BadInput as error:
        elements.error("This cannot be looked for.", f"{error.message}. {error.hint}")
        return
    if not found.hits:
        _nothing(viewer, database, query)
        return
    total = days.total()
    all_counted = total < COUNTED
    many = formatting.count(total) if all_counted else f"more than {formatting.count(total)}"
    tables.sample_notice(any(hit.sample for hit in found.hits))
    stat_cards.section(f"{many} sentence{'' if total == 1 else 's'}", f"in {took * 1000:.0f} ms")
    if all_counted and total > 5 and len({day for day, _ in days}) > 1:  # one day has no shape
        charts.show(charts.sentiments_over_time(days))
    if found.cursor:
        plotted = "" if all_counted else " Too many for a plot by day: look for less."
        st.caption(f"Shown and downloaded: the newest {MOST}.{plotted}")
    shown = st.session_state.get("shown", SHOWN) if st.session_state.get("shown_of") == query else SHOWN
    with database.session() as session:
        names = customer_names(session, [hit.customer for hit in found.hits[:shown]])
    names |= {name: person.name for name, person in options["people"].items()}
    st.html(f'<div class="t-rows">{"".join(_row(hit, names) for hit in found.hits[:shown])}</div>')
    with st.container(horizontal=True):
        if shown < len(found.hits) and st.button(f"Show {min(SHOWN, len(found.hits) - shown)} more"):
            st.session_state["shown"], st.session_state["shown_of"] = shown + SHOWN, query
            st.rerun()
        tables.download("Sentences", "found", [_as_row(hit, formatting.zone()) for hit in found.hits])


def _options(viewer: Viewer, database: Database) -> dict[str, Any]:
    with database.session() as session:
        period = Period.ending(time.time(), 364, formatting.zone())
        people = history.agents(session, viewer)
        names = searchable_names(session, language_in_force(current_context().settings))
        customers = history.customers(session, viewer, limit=history.MOST)
        told: tuple[Literal["task", "site", "queue", "medium"], ...] = ("task", "site", "queue", "medium")
        return {name: history.values(session, viewer, name) for name in told} | {
            "people": people,
            "agent": list(people),
            "customer": sorted(one.id for one in customers),
            "sentiment": names.sentiments[::-1],
            "intent": names.intents,
            "model": [SHIPPED["language"].id, *session.exec(select(Model.id).where(Model.kind == "language"))],
            "rule": list(history.alerts(session, viewer, history.Scope(), period)),
        }


def _asked(options: dict[str, Any]) -> SearchQuery:
    """The filters; all of them are in the address."""
    with st.container(horizontal=True):
        words = st.text_input(
            "Words", key="words", bind="query-params", placeholder='refund "last week" cancel* -thanks',
            help='All of the words; "a phrase"; begin*; -without', icon=":material/search:",
        )  # fmt: skip
        span = st.selectbox("When", [*TIMES, filters.CUSTOM], key="when", bind="query-params", width=140)
        when = _when(span or "Any time")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        sentiment = st.pills(
            "Sentiment", options["sentiment"], selection_mode="multi", key="sentiment", bind="query-params",
        )  # fmt: skip
        role = st.pills("Said by", ["caller", "agent"], selection_mode="multi", key="role", bind="query-params")
        alerted = st.toggle("Only calls with an alert", key="alerted", bind="query-params")
    chosen: dict[str, Any] = {"sentiment": sentiment, "role": role}
    given = any(st.query_params.get_all(name) for name in MORE)
    with st.expander("More conditions", expanded=given), st.container(horizontal=True):
        for name, title in MORE.items():
            chosen[name] = st.multiselect(
                title, options[name], key=name, bind="query-params", width=200,
                accept_new_options=name == "customer",  # there may be more than are offered
            )  # fmt: skip
    picked = {name: tuple(values or ()) for name, values in chosen.items()}
    return from_dict({"words": (words or "").strip(), "alerted": bool(alerted), **when, **picked})


def _when(span: str) -> dict[str, float]:
    if span == filters.CUSTOM:
        own = filters.custom_dates()
        return {"since": own.since, "until": own.until}
    days = TIMES[span]
    return {"since": Period.ending(time.time(), days, formatting.zone()).since} if days else {}


def _saved(viewer: Viewer, database: Database, kept: list[SavedQuery], query: SearchQuery) -> None:
    """Searches one comes back to."""
    with st.container(horizontal=True, vertical_alignment="center"):
        for one in kept:
            if st.button(formatting.plain(one.name), key=f"saved_{one.id}", icon=":material/bookmark:"):
                st.session_state["recall"] = one
                st.rerun()
        with st.popover(
            "Saved searches" if kept else "Save this search", icon=":material/bookmark_add:", type="tertiary"
        ):
            with st.form("save", border=False, clear_on_submit=True):
                name = st.text_input("Save this search as", max_chars=100)
                if st.form_submit_button("Save") and name.strip():
                    with database.session() as session:
                        save(session, viewer.name, name, _timeless(query), TIMES.get(st.session_state["when"], 0))
                    st.rerun()
            for one in kept:
                if st.button(
                    f"Forget “{formatting.plain(one.name)}”",
                    key=f"forget_{one.id}",
                    type="tertiary",
                    icon=":material/delete:",
                ):
                    with database.session() as session:
                        forget(session, viewer.name, one.id)
                    st.rerun()


def _timeless(query: SearchQuery) -> SearchQuery:
    """A saved search looks from the day it is used, so it keeps no moment."""
    return msgspec.structs.replace(query, since=None, until=None)


def _recall() -> None:
    """A saved search fills the filters, before they are drawn."""
    one: SavedQuery | None = st.session_state.pop("recall", None)
    if one is None:
        return
    query = one.query
    st.session_state["when"] = next((span for span, days in TIMES.items() if days == one.days), "Any time")
    st.session_state["words"], st.session_state["alerted"] = query.words, query.alerted
    for name in FIELDS:
        st.session_state[name] = list(getattr(query, name))


def _nothing(viewer: Viewer, database: Database, query: SearchQuery) -> None:
    with database.session() as session:
        some = search(session, viewer, SearchQuery(), limit=1).hits
    if some:
        elements.empty_state("Nothing found", "Try fewer words, the beginning of one (cancel*), or fewer conditions.")
    else:
        elements.empty_state(
            "Nothing has been said yet",
            "Every sentence of every call can be found here. To look around:",
            "tenor sample add",
        )


def _row(hit: Hit, names: dict[str, str]) -> str:
    label = hit.sentiment if hit.sentiment in theme.SENTIMENT_SHAPES else "neutral"
    where = [
        names.get(hit.agent, hit.agent),
        names.get(hit.customer, hit.customer),
        formatting.intent(hit.task),
        hit.medium if hit.medium != "voice" else "",
    ]
    about = " · ".join(escape(one) for one in (hit.role, formatting.intent(hit.intent), *where) if one)
    rules = "".join(f'<span class="t-chip alert">{escape(formatting.words(rule))}</span>' for rule in hit.rules)
    was = f"<s>{_marked(hit.original)}</s>" if hit.original else ""
    link = escape(navigation.address("call", call=hit.call, sentence=hit.sentence), quote=True)
    return (
        f'<a class="t-row" href="{link}" target="_self">'
        f'<span class="when">{escape(formatting.moment(hit.spoken_at))}</span>'
        f'<span class="what">{_marked(hit.snippet)}{was} {rules}<small>{about}</small></span>'
        f'<span class="felt"><span class="t-{label}">{theme.SENTIMENT_SHAPES[label]}</span> {escape(hit.sentiment)}'
        "</span></a>"
    )


def _marked(snippet: Snippet) -> str:
    """With what was found marked; a caller's words stay words."""
    made, at = ["…" if snippet.cut_before else ""], 0
    for mark in snippet.marks:
        made += [escape(snippet.text[at : mark.start]), f"<mark>{escape(snippet.text[mark.start : mark.end])}</mark>"]
        at = mark.end
    return "".join([*made, escape(snippet.text[at:]), "…" if snippet.cut_after else ""])


def _as_row(hit: Hit, zone: tzinfo) -> dict[str, Any]:
    kept = (
        "call",
        "sentence",
        "role",
        "sentiment",
        "mood",
        "intent",
        "task",
        "medium",
        "agent",
        "customer",
        "queue",
        "site",
    )
    return {"spoken_at": tables.csv_time(hit.spoken_at, zone), "text": hit.snippet.text} | {
        name: getattr(hit, name) for name in kept
    }
