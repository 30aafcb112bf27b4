"""Search: any sentence anyone said, by its words, how it felt, what it wanted, who, when, and what it set off; and
calls by several of their sentences."""

from __future__ import annotations

import json
import time
from shlex import quote
from typing import Any, Literal

import msgspec
import streamlit as st
from sqlmodel import select

from dashboard.context import current_context
from dashboard.ui import charts, elements, filters, formatting, stat_cards, tables
from dashboard.ui import found as found_view
from storage.db.engine import Database
from storage.labels.allowed import searchable_names
from storage.queries import history
from storage.queries.people import customer_names
from storage.queries.periods import Period
from storage.search import SearchQuery, by_day, from_dict, search, search_calls
from storage.search.query import checked
from storage.search.saved import SavedQuery, forget, save, saved
from storage.search.text import known_values, text_of
from storage.tables import Model
from storage.viewer import Viewer
from tenor.errors import BadInput
from tenor.model_store.shipped import SHIPPED
from tenor.model_store.store import language_in_force
from tenor.taxonomy import aspects

SHOWN = 50
MOST = 500
"""Sentences of one search; who has more looks for less."""
COUNTED = 100_000
"""Sentences that are counted while the reader waits."""
MORE = {"intent": "Intent", "aspect": "Aspect", "task": "Call about", "agent": "Agent", "customer": "Customer",
        "site": "Site", "queue": "Queue", "medium": "Medium", "model": "Model", "rule": "Alert"}  # fmt: skip
FIELDS = ("sentiment", "role", *MORE)
"""Conditions of which several values can be chosen; also their names in the address."""
OF_RULES = ("queue", "site", "medium", "agent")
"""Which calls a rule is for, of what a search may ask."""
SENTENCES, CALLS = "Sentences", "Calls"
EXAMPLES = (
    "(role:caller intent:cancel) then (role:agent sorry)",
    '(role:caller refund) and not (role:agent "how long")',
    "(sentiment:negative) then not (sentiment:positive)",
)
OF_SENTENCES = ("intent", "aspect", "model")
"""Of `MORE`, what is asked of sentences and not of calls."""
HELP = """Each sentence in brackets, with its words and what it is like: `role:caller`, `intent:cancel`, \
`sentiment:negative`, `aspect:delivery`. Between the brackets:

- `(…) then (…)`: the second one later
- `(…) and (…)`: both, in any order
- `(…) and not (…)`: the second one nowhere in the call
- `(…) then not (…)`: the second one not after the first"""


def show(viewer: Viewer, database: Database) -> None:
    tables.apply_styles()
    elements.heading("Search", "every sentence, as people left it")
    _recall()
    with database.session() as session:
        kept = saved(session, viewer.name)
        options = _options(viewer, database)
    for_calls, query = _asked(options)
    try:
        _saved(viewer, database, kept, query)
        if for_calls and not query.said:
            elements.empty_state("Calls by what was said in them", "Each sentence in brackets. For example:", *EXAMPLES)
        elif for_calls:
            _calls(viewer, database, query, options)
        else:
            _sentences(viewer, database, query, options)
    except BadInput as error:
        elements.error("This cannot be looked for.", f"\n{error.message}\n{error.hint}")


def _sentences(viewer: Viewer, database: Database, query: SearchQuery, options: dict[str, Any]) -> None:
    with database.session() as session:
        began = time.perf_counter()
        found = search(session, viewer, query, limit=MOST)
        days = by_day(session, viewer, query, formatting.zone(), COUNTED)
        took = time.perf_counter() - began
    if not found.hits:
        _nothing(viewer, database)
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
    shown = _shown(query)
    names = _names(database, [hit.customer for hit in found.hits[:shown]], options)
    st.html(found_view.sentence_list(found.hits[:shown], names))
    with st.container(horizontal=True):
        _more(query, shown, len(found.hits))
        tables.download("Sentences", "found", [found_view.sentence_row(hit, formatting.zone()) for hit in found.hits])


def _calls(viewer: Viewer, database: Database, query: SearchQuery, options: dict[str, Any]) -> None:
    with database.session() as session:
        checked(query, known_values(session, current_context().settings))
        began = time.perf_counter()
        found = search_calls(session, viewer, query, limit=MOST)
        took = time.perf_counter() - began
    _elsewhere(query)
    if not found.calls:
        _nothing(viewer, database)
        return
    tables.sample_notice(any(call.sample for call in found.calls))
    many = formatting.count(found.total)
    stat_cards.section(f"{many} call{'' if found.total == 1 else 's'}", f"in {took * 1000:.0f} ms")
    if found.cursor:
        st.caption(f"Shown and downloaded: the newest {MOST}.")
    shown = _shown(query)
    names = _names(database, [call.customer for call in found.calls[:shown]], options)
    st.html(found_view.call_list(found.calls[:shown], names))
    with st.container(horizontal=True):
        _more(query, shown, len(found.calls))
        tables.download("Calls", "found", [found_view.call_row(call, formatting.zone()) for call in found.calls])


def _elsewhere(query: SearchQuery) -> None:
    """The search as it goes into a rule and a dataset, to be copied."""
    with st.popover("Use it in a rule or a dataset", icon=":material/content_copy:", type="tertiary"):
        st.caption("A rule raises an alert in such calls. What must not be said is known when a call is over.")
        st.code(_rule(query), language="yaml")
        st.caption("A dataset takes the labelled sentences of these calls.")
        st.code(f"tenor dataset make NAME --search {quote(text_of(query))}", language="bash")


def _rule(query: SearchQuery) -> str:
    only = {name: list(values) for name in OF_RULES if (values := getattr(query, name))}
    told = f"\n  only for: {json.dumps(only, ensure_ascii=False)}" if only else ""
    when = json.dumps({"search": query.said}, ensure_ascii=False)
    return f"my-rule:\n  when: {when}{told}\n"


def _shown(query: SearchQuery) -> int:
    same = st.session_state.get("shown_of") == query
    return int(st.session_state.get("shown", SHOWN)) if same else SHOWN


def _more(query: SearchQuery, shown: int, there: int) -> None:
    if shown < there and st.button(f"Show {min(SHOWN, there - shown)} more"):
        st.session_state["shown"], st.session_state["shown_of"] = shown + SHOWN, query
        st.rerun()


def _names(database: Database, customers: list[str], options: dict[str, Any]) -> dict[str, str]:
    with database.session() as session:
        names = customer_names(session, customers)
    return names | {name: person.name for name, person in options["people"].items()}


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
            "aspect": list(aspects.SHIPPED),
            "model": [SHIPPED["language"].id, *session.exec(select(Model.id).where(Model.kind == "language"))],
            "rule": list(history.alerts(session, viewer, history.Scope(), period)),
        }


def _asked(options: dict[str, Any]) -> tuple[bool, SearchQuery]:
    """Whether calls are looked for, and the filters; all of them are in the address."""
    with st.container(horizontal=True):
        for_calls = st.selectbox("Find", [SENTENCES, CALLS], key="find", bind="query-params", width=130) == CALLS
        if for_calls:
            typed = {"said": st.text_input(
                "Sentences of one call", key="said", bind="query-params", help=HELP, icon=":material/search:",
                placeholder="(role:caller cancel*) then (role:agent sorry) and not (role:agent discount*)",
            )}  # fmt: skip
        else:
            typed = {"words": st.text_input(
                "Words", key="words", bind="query-params", placeholder='refund "last week" cancel* -thanks',
                help='All of the words; "a phrase"; begin*; -without', icon=":material/search:",
            )}  # fmt: skip
        when = filters.when()
    chosen: dict[str, Any] = {}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if not for_calls:
            chosen["sentiment"] = st.pills(
                "Sentiment", options["sentiment"], selection_mode="multi", key="sentiment", bind="query-params",
            )  # fmt: skip
            chosen["role"] = st.pills(
                "Said by", ["caller", "agent"], selection_mode="multi", key="role", bind="query-params"
            )
        alerted = st.toggle("Only calls with an alert", key="alerted", bind="query-params")
    more = {name: title for name, title in MORE.items() if not (for_calls and name in OF_SENTENCES)}
    given = any(st.query_params.get_all(name) for name in more)
    with st.expander("More conditions", expanded=given), st.container(horizontal=True):
        for name, title in more.items():
            chosen[name] = st.multiselect(
                title, options[name], key=name, bind="query-params", width=200,
                accept_new_options=name == "customer",  # there may be more than are offered
            )  # fmt: skip
    picked = {name: tuple(values or ()) for name, values in chosen.items()}
    text = {name: (value or "").strip() for name, value in typed.items()}
    return for_calls, from_dict({**text, "alerted": bool(alerted), **when, **picked})


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
                        save(
                            session, viewer.name, name, _timeless(query), filters.TIMES.get(st.session_state["when"], 0)
                        )
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
    st.session_state["when"] = next((span for span, days in filters.TIMES.items() if days == one.days), "Any time")
    st.session_state["find"] = CALLS if query.said else SENTENCES
    st.session_state["said" if query.said else "words"] = query.said or query.words
    st.session_state["alerted"] = query.alerted
    for name in FIELDS:
        st.session_state[name] = list(getattr(query, name))


def _nothing(viewer: Viewer, database: Database) -> None:
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
