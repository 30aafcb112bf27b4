"""Review: sentences that need a person, one after the other, without taking the hands off the keyboard."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from html import escape
from typing import get_args

import streamlit as st

from dashboard import choices, frame, listing, look, navigation, plots, plots_labels, tiles
from dashboard.desk import Desk, Given
from storage import agreement, review
from storage.database import Database
from storage.review import Chosen, Kind, Looked
from storage.viewer import Viewer

KINDS: tuple[Kind, ...] = get_args(Kind)
WHY = {
    "disagreement": "people see this differently from the model, or from each other",
    "unsure": "the model is not sure",
    "second opinion": "one person has looked at it",
    "sample": "drawn at random",
}
DIGITS = 9
FOCUS = """export default function () {
  const wanted = document.querySelector(".st-key-all_intents input")
  if (wanted) { wanted.focus(); wanted.click() }
}"""


def show(viewer: Viewer, database: Database) -> None:
    listing.dress()
    look.heading("Review", "your word beside the model's; neither overwrites the other")
    kind = st.segmented_control(
        "What to review", KINDS, default=KINDS[0], required=True, key="kind", bind="query-params",
        format_func=look.words, label_visibility="collapsed",
    )  # fmt: skip
    _desk(viewer, database, kind or KINDS[0])
    _agreement(viewer, database, kind or KINDS[0])


@st.fragment
def _desk(viewer: Viewer, database: Database, kind: Kind) -> None:
    """Only this part runs again after an answer, so the next sentence is there at once."""
    desk: Desk = st.session_state.setdefault(f"desk {viewer.name} {kind}", Desk(kind))
    now = desk.current(database, viewer)
    with database.session() as session:
        today = review.effort(session, viewer, kind, _midnight())
    if now is None:
        if desk.put_aside:
            look.empty("All done", "There is nothing left that you have not seen.")
        else:
            look.empty(
                "Nothing to review yet", "Sentences come here as calls are heard. To look around:", "tenor sample add"
            )
    else:
        _card(*now, kind)
        _keys(desk, database, viewer, *now)
    if desk.given:
        _last(desk.given[-1])
    if today.labels or desk.put_aside:
        took = f", {today.seconds:.1f} s each" if today.seconds is not None else ""
        skipped = len(desk.put_aside) - len(desk.given)
        done = f"{today.labels} today{took} · {today.changed} changed · {skipped} skipped"
        st.html(f'<div class="t-keys" data-testid="progress">{done}</div>')


def _card(chosen: Chosen, looked: Looked, kind: Kind) -> None:
    one, said, call = looked.sentence, looked.said, looked.call
    before = "".join(f'<div class="near"><i>{escape(s.role)}</i>{escape(s.text)}</div>' for s in looked.before)
    after = "".join(f'<div class="near"><i>{escape(s.role)}</i>{escape(s.text)}</div>' for s in looked.after)
    if kind == "sentiment":
        bars = "".join(
            f'<span style="width:{score:.0%};background:{look.SENTIMENT_COLOURS.get(label, plots.GREY)}"></span>'
            for label, score in one.sentiment_scores.items()
        )
        sure = one.sentiment_scores.get(one.sentiment, 0.0)
        guess = f'{escape(look.sentiment(one.sentiment))} <span class="t-bars">{bars}</span> {look.share(sure)}'
    else:
        guess = f"{escape(look.words(one.intent))} {look.share(one.intent_score)}"
    link = escape(navigation.address("call", call=call.id, sentence=one.id), quote=True)
    where = " · ".join(filter(None, (look.moment(one.spoken_at), call.queue, look.wanted(call.task))))
    sample = '<span class="t-sample">sample data</span>' if call.sample else ""
    st.html(
        f'<div class="t-card" data-sentence="{escape(one.id, quote=True)}">{before}'
        f'<div class="main"><i>{escape(said.role)}</i>{escape(said.text)}</div>{after}'
        f'<div class="guess"><span>The model says <b>{guess}</b></span></div>'
        f'<div class="t-keys">{WHY[chosen.why]} · {escape(where)} · <a href="{link}" target="_self">call</a> {sample}'
        "</div></div>"
    )


def _keys(desk: Desk, database: Database, viewer: Viewer, chosen: Chosen, looked: Looked) -> None:
    predicted = getattr(looked.sentence, desk.kind)
    offered = _offered(desk.kind, looked, predicted)
    answer = partial(_answer, desk, database, viewer)
    if predicted in offered:  # it is there as "Accept"; its number works all the same
        same = offered.index(predicted) + 1
        st.html(f"<style>.st-key-choice_{same} {{ position: absolute; visibility: hidden }}</style>")
    with st.container(horizontal=True):
        accept = look.sentiment(predicted) if desk.kind == "sentiment" else look.words(predicted)
        st.button(f"Accept: {accept}", key="accept", shortcut="A", type="primary", on_click=answer, args=(predicted,))
        for number, value in enumerate(offered, 1):
            label = look.sentiment(value) if desk.kind == "sentiment" else look.words(value)
            st.button(label, key=f"choice_{number}", shortcut=str(number), on_click=answer, args=(value,))
    with st.container(horizontal=True):
        if desk.kind == "intent" and st.button("Another intent", key="list", shortcut="L"):
            st.session_state["listing"] = chosen.sentence
        st.button("Skip", key="skip", shortcut="S", on_click=desk.skip)
        st.button(
            "Undo", key="undo", shortcut="U", disabled=not desk.given, on_click=desk.undo, args=(database, viewer)
        )
    if desk.kind == "intent" and st.session_state.get("listing") == chosen.sentence:
        _all_intents(answer)


def _all_intents(answer: Callable[[str], None]) -> None:
    """Every intent there is; one begins to type its name."""
    names = [*choices.intents(frame.current().settings), "unknown"]
    st.selectbox(
        "Intent", names, index=None, key="all_intents", format_func=look.words, width=320,
        placeholder="Type, then Enter", on_change=lambda: answer(st.session_state["all_intents"]),
    )  # fmt: skip
    st.components.v2.component("tenor.focus", js=FOCUS)(key="focus")


def _answer(desk: Desk, database: Database, viewer: Viewer, value: str) -> None:
    """Runs before the page does, so that one run shows the next sentence."""
    desk.answer(database, viewer, value)
    st.session_state.pop("listing", None)


def _offered(kind: Kind, looked: Looked, predicted: str) -> list[str]:
    """What the number keys stand for: the sentiments, or the intents this sentence may well have."""
    settings = frame.current().settings
    if kind == "sentiment":
        order = {"negative": 0, "neutral": 1, "positive": 2}
        return sorted(choices.sentiments(settings), key=lambda one: order.get(one, 9))[:DIGITS]
    near = [one.intent for one in (*looked.before, *looked.after)]
    usual = ["complaint", "thanks", "confirmation", "give_details", "ask_details", "resolution", "unknown"]
    known = {*choices.intents(settings), "unknown"}
    wanted = dict.fromkeys([looked.call.task, *near, *usual])
    return [one for one in wanted if one in known and one != predicted][:DIGITS]


def _last(given: Given) -> None:
    """What others say is told only after one's own answer: agreement must not be made by looking."""
    told = f"You said <b>{escape(look.words(given.value))}</b>."
    for said in given.answered.others:
        same = "too" if said.value == given.value else f"said <b>{escape(look.words(said.value))}</b>"
        told += f" {escape(said.author)} {same}{' said so' if same == 'too' else ''}."
    st.html(f'<div class="t-said-last">{told} <kbd class="t">U</kbd> takes it back.</div>')
    if given.answered.contradicts:
        words = "; ".join(
            f"<b>{escape(look.words(said.value))}</b> by {escape(said.author)}, {escape(look.moment(said.at))}"
            for said in given.answered.contradicts[:3]
        )
        st.html(f'<div class="t-warn" role="status">The same words were labelled otherwise before: {words}.</div>')


def _agreement(viewer: Viewer, database: Database, kind: Kind) -> None:
    with database.session() as session:
        pairs = [pair for pair in agreement.pairs(session, viewer) if pair.kind == kind]
        efforts = review.authors(session, viewer, kind)
        made_up = review.made_up(session, kind)
    if not efforts:
        return
    listing.sample_mark(made_up)
    if viewer.role == "administrator":
        _odd_ones(agreement.odd_ones(pairs))
    left, right = st.columns(2)
    with left:
        tiles.section("Agreement", "Cohen's kappa with its 95 % interval: 1 always, 0 as by chance")
        if pairs:
            plots.show(plots_labels.kappas(pairs))
        else:
            st.caption("Two people have to label the same sentences first.")
    with right:
        if pairs:
            most = pairs[0]
            tiles.section("Who said what", f"{most.one} and {most.other}, {most.agreement.shared} sentences")
            plots.show(plots_labels.answers(most))
    made = [
        tiles.Tile(author, look.count(done.labels), (
            tiles.Remark(f"{look.share(done.changed / done.labels)} not as the model"),
            tiles.Remark(f"{done.seconds:.1f} s a label" if done.seconds is not None else "time not known"),
        ), "labels")
        for author, done in list(efforts.items())[:6]
    ]  # fmt: skip
    tiles.section("Reviewers")
    tiles.show(made)


def _odd_ones(found: list[agreement.Odd]) -> None:
    for odd in found:
        own, others = odd.own, odd.others
        st.html(
            f'<div class="t-warn" role="status"><b>{escape(odd.author)}</b> labels {odd.kind} unlike everyone else: '
            f"kappa {own.kappa:.2f} over {own.shared} shared sentences, while the others reach {others.kappa:.2f} over "
            f"{others.shared}. Mistaken, careless or on purpose: ask before these labels are trained on.</div>"
        )


def _midnight() -> float:
    now = look.local(time.time())
    return now.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
