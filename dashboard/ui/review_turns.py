"""Review, of the assistant: what a shopper said with its intent and slots, to accept with one key or to mend."""

from __future__ import annotations

from functools import partial
from html import escape

import streamlit as st

from dashboard.context import current_context
from dashboard.ui import elements, formatting, navigation, theme, turn_view
from dashboard.ui.turn_queue import TurnQueue
from storage.db.engine import Database
from storage.labels.allowed import turn_names
from storage.labels.turn_review import TurnInContext
from storage.labels.why import MEANING, Why
from storage.viewer import Viewer
from tenor.taxonomy.assistant import printed_intent
from tenor.taxonomy.in_force import NamesInForce

NO_SLOT = "no slot"


@st.fragment
def show_queue(viewer: Viewer, database: Database) -> None:
    """Only this part runs again after an answer."""
    st.html(f"<style>{theme.asset('flows.css')}</style>")
    queue: TurnQueue = st.session_state.setdefault(f"turn queue {viewer.name}", TurnQueue())
    with database.session() as session:
        names = turn_names(session)
    now = queue.current(database, viewer)
    turn, keys = st.container(), st.container()
    with turn:
        if now is not None:
            _card(queue, now[0].why, now[1])
            _words(queue, now[1])
        elif queue.put_aside:
            elements.empty_state("All done", "There is no turn left that you have not seen.")
        else:
            elements.empty_state("No turn to review yet", "Turns come here as shoppers talk to the assistant.")
    if now is not None or queue.put_aside:
        with keys:
            _keys(queue, database, viewer, names, now[1] if now else None)
    if queue.refused:
        st.html(f'<div class="t-warn" role="alert">Not kept: {escape(queue.refused)}.</div>')
    if queue.given:
        last = queue.given[-1]
        told = f"You said <b>{escape(printed_intent(last.intent) or 'the slots')}</b>."
        for author, intent in last.answered.others:
            told += f" {escape(author)} said <b>{escape(printed_intent(intent))}</b>."
        st.html(f'<div class="t-said-last">{told} <kbd class="t">U</kbd> takes it back.</div>')


def _card(queue: TurnQueue, why: Why, looked: TurnInContext) -> None:
    one = looked.turn
    before = "".join(_line(said, text) for turn in looked.before for said, text in turn_view.lines(turn))
    replies = "".join(_line("assistant", text) for said, text in turn_view.lines(one) if said == "assistant")
    link = escape(navigation.address("flows", call=one.call, turn=str(one.turn)), quote=True)
    if looked.intent:
        guess = f"The model says <b>{escape(printed_intent(one.intent))}</b> {formatting.share(one.intent_score)}"
    else:
        guess = "An answer to a question: the line alone does not tell its intent"
    where = " · ".join(filter(None, (formatting.moment(one.at), one.assistant, looked.call.queue)))
    st.html(
        f'<div class="t-card" data-turn="{escape(one.id, quote=True)}">{before}'
        f'<div class="main t-turn"><i>shopper</i><span class="said">{turn_view.tagged_html(one.input, queue.tags)}'
        f"</span></div>{replies}"
        f'<div class="guess"><span>{guess}</span></div><div class="t-keys">{MEANING[why]} · {escape(where)} · '
        f'<a href="{link}" target="_self">conversation</a></div></div>'
    )


def _words(queue: TurnQueue, looked: TurnInContext) -> None:
    """A click on a word picks it; the slot that is chosen then is for all picked words."""
    with st.container(horizontal=True, gap="small", key="turn_words"):
        for number, (word, tag) in enumerate(zip(looked.words, queue.tags, strict=True)):
            slot = f" · {tag[2:]}" if tag[2:] else ""
            st.button(
                f"{formatting.plain(word)}{slot}", key=f"word_{looked.turn.id}_{number}", on_click=queue.pick,
                args=(looked.turn.id, number),
                type="primary" if number in queue.picked else "secondary",
            )  # fmt: skip


def _keys(
    queue: TurnQueue, database: Database, viewer: Viewer, names: NamesInForce, looked: TurnInContext | None
) -> None:
    if looked is not None:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            intent_key, slot_key = f"intent of {looked.turn.id}", f"slot of {looked.turn.id} {queue.times_tagged}"
            at = names.intents.index(queue.intent) if queue.intent in names.intents else None
            st.selectbox(
                "Intent", names.intents, index=at, key=intent_key, format_func=printed_intent, width=300,
                placeholder="None",
                on_change=lambda: queue.choose_intent(looked.turn.id, st.session_state[intent_key]),
            )  # fmt: skip
            st.selectbox(
                "Slot of the picked words", (NO_SLOT, *names.slots), index=None, key=slot_key, width=300,
                placeholder="Pick words, then a slot", disabled=not queue.picked,
                on_change=lambda: _tag(queue, looked.turn.id, st.session_state[slot_key]),
            )  # fmt: skip
    with st.container(horizontal=True):
        if looked is not None:
            mended = queue.tags != looked.tags or queue.intent != looked.intent
            st.button(
                "Keep what I mended" if mended else "Accept", key="accept_turn", shortcut="A", type="primary",
                on_click=partial(_answer, queue, database, viewer, names, looked.turn.id),
                disabled=bool(queue.intent) and queue.intent not in names.intents,
            )  # fmt: skip
            st.button("Skip", key="skip_turn", shortcut="S", on_click=partial(queue.skip_turn, looked.turn.id))
        st.button(
            "Undo", key="undo_turn", shortcut="U", disabled=not queue.given,
            on_click=partial(_undo, queue, database, viewer),
        )  # fmt: skip


def _tag(queue: TurnQueue, turn: str, slot: str | None) -> None:
    if slot is not None:
        queue.tag(turn, "" if slot == NO_SLOT else slot)


def _answer(queue: TurnQueue, database: Database, viewer: Viewer, names: NamesInForce, turn: str) -> None:
    queue.answer(database, viewer, names, turn)
    current_context().publisher.wake()


def _undo(queue: TurnQueue, database: Database, viewer: Viewer) -> None:
    queue.undo(database, viewer)
    current_context().publisher.wake()


def _line(said: str, text: str) -> str:
    return f'<div class="near"><i>{escape(said)}</i>{escape(text)}</div>'
