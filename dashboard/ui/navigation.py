"""Getting around: the sidebar, and going from one page to another."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import urlencode

import streamlit as st
from sqlmodel import select

from dashboard.auth.sign_in import OWNER
from dashboard.pages import PAGES, Page
from dashboard.ui import elements, formatting
from storage.db.engine import Database
from storage.tables import Agent, Call
from storage.viewer import ROLES, Viewer

if TYPE_CHECKING:
    from dashboard.context import PageContext


def navigate(pages: list[Page], viewer: Viewer, context: PageContext) -> None:
    """Show the sidebar, then the page that is asked for."""
    sections: dict[str, list[Any]] = defaultdict(list)
    known: dict[str, Any] = {}
    for position, page in enumerate(pages):
        entry = st.Page(
            partial(page.show, viewer, context.database),
            title=page.title,
            icon=page.icon,
            url_path=page.name,
            default=position == 0,
        )
        sections[page.section].append(entry)
        known[page.name] = entry
    for page in PAGES:
        if page.name not in known:  # a link from somebody with another role
            barred = st.Page(partial(_barred, page), title=page.title, url_path=page.name, visibility="hidden")
            sections[pages[0].section].append(barred)
    st.session_state["pages"] = known
    chosen = st.navigation(dict(sections), expanded=True)
    with st.sidebar:
        _who(viewer, context)
    chosen.run()


def _barred(page: Page) -> None:
    *others, last = (f"{role}s" for role in page.roles)
    for_whom = f"{', '.join(others)} and {last}" if others else last
    elements.empty_state(f"{page.title} is for {for_whom}", "What there is for you is in the menu on the left.")


def go(page: str, **params: str) -> NoReturn:
    """Leave for another page: `go("call", call=ID)`."""
    st.switch_page(st.session_state["pages"][page], query_params=params)


def address(page: str, **params: str) -> str:
    """The same as a link."""
    entry = st.session_state.get("pages", {}).get(page)
    path = entry.url_path if entry is not None else page
    return f"/{path}?{urlencode(params)}" if params else f"/{path}"


def titles() -> dict[str, str]:
    """What the viewer's pages are called, by their names."""
    return {name: entry.title for name, entry in st.session_state["pages"].items()}


def _who(viewer: Viewer, context: PageContext) -> None:
    if context.sign_in.kind == "none":
        _looks_as(viewer, context.database)
        return
    st.html(f'<div class="t-who">{escape(viewer.name)} · {viewer.role}</div>')
    context.sign_in.sign_out(context.assets)


def _looks_as(viewer: Viewer, database: Database) -> None:
    """Where nobody signs in, the person at this machine can see what each role sees."""
    with st.popover(
        f"{formatting.plain(viewer.name)} · {viewer.role}" if viewer != OWNER else "Administrator", width="stretch"
    ):
        st.caption("Nobody signs in on this machine. See the pages as:")
        role = st.radio("Role", ROLES, index=ROLES.index(viewer.role), format_func=formatting.words, key="look_role")
        name: str = role
        if role == "agent":
            agents = sorted({*agents_of(database), *([viewer.name] if viewer.role == "agent" else [])})
            if not agents:
                st.caption("There is no agent yet.")
                return
            at = agents.index(viewer.name) if viewer.name in agents else 0
            name = st.selectbox("Agent", agents, index=at, key="look_agent")
        elif role == viewer.role:
            return
        wanted = OWNER if role == OWNER.role else Viewer(name, role)
    if wanted != viewer:
        st.session_state["looks_as"] = wanted
        st.rerun()


def agents_of(database: Database) -> list[str]:
    """Everyone who takes calls, by account name."""
    with database.session() as session:
        named = set(session.exec(select(Agent.name)))
        named |= set(session.exec(select(Call.agent).where(Call.agent != "").distinct()))
    return sorted(named)
