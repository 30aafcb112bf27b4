"""Review: sentences that need a person, one after the other, without taking the hands off the keyboard."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape
from typing import get_args

import streamlit as st

from dashboard.context import current_context
from dashboard.ui import charts, elements, formatting, navigation, review_turns, stat_cards, tables, theme
from dashboard.ui.review_queue import GivenAnswer, ReviewQueue
from storage.db.engine import Database
from storage.labels import review
from storage.labels.review import Kind, ReviewItem, SentenceInContext
from storage.labels.trust import agreement, checks, holds
from storage.labels.why import MEANING
from storage.viewer import Viewer
from tenor.taxonomy.in_force import NamesInForce

TURNS = "turns"
"""Of the assistant: intent and slots at once."""
KINDS: tuple[Kind, ...] = get_args(Kind)
TITLES = {TURNS: "Assistant"}
DIGITS = 9
FOCUS = """export default function () {
  const until = performance.now() + 3000
  const focus = () => {
    const wanted = document.querySelector(".st-key-all_intents input")
    if (wanted && document.activeElement === wanted) return
    if (wanted) { wanted.focus(); wanted.click() }
    if (performance.now() < until) setTimeout(focus, 50)
  }
  focus()
}"""
"""The box may be drawn after this runs, or once more: on a busy machine the first attempt found none."""


def show(viewer: Viewer, database: Database) -> None:
    tables.apply_styles()
    elements.heading("Review", "your word beside the model's; neither overwrites the other")
    what = st.segmented_control(
        "What to review", (*KINDS, TURNS), default=KINDS[0], required=True, key="kind", bind="query-params",
        format_func=lambda name: TITLES.get(name, formatting.words(name)), label_visibility="collapsed",
    )  # fmt: skip
    if what == TURNS:
        review_turns.show_queue(viewer, database)
        return
    kind = what if what in KINDS else KINDS[0]
    _queue(viewer, database, kind)
    _agreement(viewer, database, kind)


@st.fragment
def _queue(viewer: Viewer, database: Database, kind: Kind) -> None:
    """Only this part runs again after an answer, so the next sentence is there at once."""
    experts = tuple(current_context().settings.learn.experts)
    queue: ReviewQueue = st.session_state.setdefault(f"review queue {viewer.name} {kind}", ReviewQueue(kind, experts))
    names = current_context().names()
    now = queue.current(database, viewer)
    with database.session() as session:
        today = review.effort(session, viewer, kind, formatting.midnight())
    # Every part has a place of its own, also while it is empty: Streamlit shows what stood elsewhere until the run
    # ends, and there must never be two keys for one letter.
    sentence, keys = st.container(), st.container()
    with sentence:
        if now is not None:
            _card(*now, kind)
        elif queue.put_aside:
            elements.empty_state("All done", "There is nothing left that you have not seen.")
        else:
            elements.empty_state(
                "Nothing to review yet", "Sentences come here as calls are heard. To look around:", "tenor sample add"
            )
    if now is not None or queue.put_aside:
        with keys:
            _keys(queue, database, viewer, names, now)
    if queue.refused:
        st.html(f'<div class="t-warn" role="alert">Not kept: {escape(queue.refused)}.</div>')
    if queue.given:
        _last(queue.given[-1])
    if today.labels or queue.put_aside:
        took = f", {today.seconds:.1f} s each" if today.seconds is not None else ""
        skipped = len(queue.put_aside) - len(queue.given)
        done = f"{today.labels} today{took} · {today.changed} changed · {skipped} skipped"
        st.html(f'<div class="t-keys" data-testid="progress">{done}</div>')


def _card(chosen: ReviewItem, looked: SentenceInContext, kind: Kind) -> None:
    one, said, call = looked.sentence, looked.said, looked.call
    before = "".join(f'<div class="near"><i>{escape(s.role)}</i>{escape(s.text)}</div>' for s in looked.before)
    after = "".join(f'<div class="near"><i>{escape(s.role)}</i>{escape(s.text)}</div>' for s in looked.after)
    if kind == "sentiment":
        bars = "".join(
            f'<span style="width:{score:.0%};background:{theme.SENTIMENT_COLOURS.get(label, charts.GREY)}"></span>'
            for label, score in one.sentiment_scores.items()
        )
        sure = one.sentiment_scores.get(one.sentiment, 0.0)
        guess = (
            f'{escape(formatting.sentiment(one.sentiment))} <span class="t-bars">{bars}</span> {formatting.share(sure)}'
        )
    else:
        guess = f"{escape(formatting.words(one.intent))} {formatting.share(one.intent_score)}"
    link = escape(navigation.address("call", call=call.id, sentence=one.id), quote=True)
    where = " · ".join(filter(None, (formatting.moment(one.spoken_at), call.queue, formatting.intent(call.task))))
    sample = '<span class="t-sample">sample data</span>' if call.sample else ""
    st.html(
        f'<div class="t-card" data-sentence="{escape(one.id, quote=True)}">{before}'
        f'<div class="main"><i>{escape(said.role)}</i>{escape(said.text)}</div>{after}'
        f'<div class="guess"><span>The model says <b>{guess}</b></span></div>'
        f'<div class="t-keys">{MEANING[chosen.why]} · {escape(where)} · '
        f'<a href="{link}" target="_self">call</a> {sample}</div></div>'
    )


def _keys(
    queue: ReviewQueue,
    database: Database,
    viewer: Viewer,
    names: NamesInForce,
    now: tuple[ReviewItem, SentenceInContext] | None,
) -> None:
    """With no sentence left, the last answer can still be taken back."""
    answer = partial(_answer, queue, database, viewer, names)
    answers = st.container(horizontal=True)
    with st.container(horizontal=True):
        others = st.container(horizontal=True, width="content")
        undoing = (queue, database, viewer)
        st.button("Undo", key="undo", shortcut="U", disabled=not queue.given, on_click=_undo, args=undoing)
    if now is None:
        return
    chosen, looked = now
    with answers:
        _answer_keys(queue.kind, names, looked, answer)
    with others:
        if queue.kind == "intent" and st.button("Another intent", key="list", shortcut="L"):
            st.session_state["listing"] = chosen.sentence
        st.button("Skip", key="skip", shortcut="S", on_click=queue.skip)
    if queue.kind == "intent" and st.session_state.get("listing") == chosen.sentence:
        _all_intents(names, answer)


def _answer_keys(kind: Kind, names: NamesInForce, looked: SentenceInContext, answer: Callable[[str], None]) -> None:
    predicted = getattr(looked.sentence, kind)
    offered = _offered(kind, names, looked, predicted)
    in_force = predicted in (names.sentiments if kind == "sentiment" else names.intents)
    label = formatting.sentiment if kind == "sentiment" else formatting.words
    st.button(
        f"Accept: {label(predicted)}", key="accept", shortcut="A", type="primary", on_click=answer, args=(predicted,),
        disabled=not in_force, help=None if in_force else "Another model said so; this name is not in force now",
    )  # fmt: skip
    for number, value in enumerate(offered, 1):
        st.button(label(value), key=f"choice_{number}", shortcut=str(number), on_click=answer, args=(value,))
    if predicted in offered:  # it is there as "Accept"; its number works all the same
        same = offered.index(predicted) + 1
        st.html(f"<style>.st-key-choice_{same} {{ position: absolute; visibility: hidden }}</style>")


def _all_intents(names: NamesInForce, answer: Callable[[str], None]) -> None:
    """Every intent there is; one begins to type its name."""
    st.selectbox(
        "Intent", names.intents, index=None, key="all_intents", format_func=formatting.words, width=320,
        placeholder="Type, then Enter", on_change=lambda: answer(st.session_state["all_intents"]),
    )  # fmt: skip
    st.components.v2.component("tenor.focus", js=FOCUS)(key="focus")


def _answer(queue: ReviewQueue, database: Database, viewer: Viewer, names: NamesInForce, value: str) -> None:
    """Runs before the page does, so that one run shows the next sentence."""
    queue.answer(database, viewer, names, value)
    current_context().publisher.wake()
    st.session_state.pop("listing", None)


def _undo(queue: ReviewQueue, database: Database, viewer: Viewer) -> None:
    queue.undo(database, viewer)
    current_context().publisher.wake()


def _offered(kind: Kind, names: NamesInForce, looked: SentenceInContext, predicted: str) -> list[str]:
    """What the number keys stand for: the sentiments, or the intents this sentence may well have."""
    if kind == "sentiment":
        return list(names.sentiments[:DIGITS])
    near = [one.intent for one in (*looked.before, *looked.after)]
    usual = ["complaint", "thanks", "confirmation", "give_details", "ask_details", "resolution", "unknown"]
    wanted = dict.fromkeys([looked.call.task, *near, *usual])
    return [one for one in wanted if one in names.intents and one != predicted][:DIGITS]


def _last(given: GivenAnswer) -> None:
    """What others say is told only after one's own answer: agreement must not be made by looking."""
    told = f"You said <b>{escape(formatting.words(given.value))}</b>."
    for said in given.answered.others:
        same = "too" if said.value == given.value else f"said <b>{escape(formatting.words(said.value))}</b>"
        told += f" {escape(said.author)} {same}{' said so' if same == 'too' else ''}."
    st.html(f'<div class="t-said-last">{told} <kbd class="t">U</kbd> takes it back.</div>')
    if given.answered.contradicts:
        words = "; ".join(
            f"<b>{escape(formatting.words(said.value))}</b> by {escape(said.author)}, "
            f"{escape(formatting.moment(said.at))}"
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
    tables.sample_notice(made_up)
    if viewer.role in holds.DECIDES:
        _doubtful_authors(viewer, database)
    left, right = st.columns(2)
    with left:
        stat_cards.section("Agreement", "Cohen's kappa with its 95 % interval: 1 always, 0 as by chance")
        if pairs:
            charts.show(charts.kappas(pairs))
        else:
            st.caption("Two people have to label the same sentences first.")
    with right:
        if pairs:
            most = pairs[0]
            stat_cards.section("Who said what", f"{most.one} and {most.other}, {most.agreement.shared} sentences")
            charts.show(charts.confusion(most))
    made = [
        stat_cards.StatCard(author, formatting.count(done.labels), (
            stat_cards.Remark(f"{formatting.share(done.changed / done.labels)} not as the model"),
            stat_cards.Remark(f"{done.seconds:.1f} s a label" if done.seconds is not None else "time not known"),
        ), "labels")
        for author, done in list(efforts.items())[:6]
    ]  # fmt: skip
    stat_cards.section("Reviewers")
    stat_cards.show(made)


def _doubtful_authors(viewer: Viewer, database: Database) -> None:
    """Those whose labels wait for a decision, and those who should be asked."""
    with database.session() as session:
        held = holds.holds(session)
        suspects = checks.suspicions(session, current_context().settings.learn.experts)
    for one in held:
        since = f"held since {formatting.moment(one.at)}" + (f" by {one.by}" if one.by else "")
        _doubtful_author(viewer, database, one.author, f"{since}: {one.reason}", "Release", _release)
    for suspect in suspects:
        about = f"labels {suspect.kind} unlike everyone else: {suspect.reason}"
        hold = partial(_hold, reason=f"{suspect.kind}: {suspect.reason}")
        _doubtful_author(viewer, database, suspect.author, about, "Hold", hold)


def _doubtful_author(
    viewer: Viewer, database: Database, author: str, about: str, title: str, decide: Callable[..., None]
) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.html(
            f'<div class="t-warn" role="status"><b>{escape(author)}</b> {escape(about)}. Mistaken, careless or on '
            "purpose: ask before these labels are trained on.</div>"
        )
        st.button(
            f"{title} {author}'s labels", on_click=decide, args=(database, viewer, author),
            disabled=author == viewer.name,
        )  # fmt: skip


def _hold(database: Database, viewer: Viewer, author: str, reason: str) -> None:
    with database.begin() as session:
        holds.hold(session, author, reason, viewer)


def _release(database: Database, viewer: Viewer, author: str) -> None:
    with database.begin() as session:
        holds.release(session, author, viewer)
