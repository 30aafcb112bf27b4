"""Drift: whether what callers say, or what it means, is still what the model learned; and starting to learn again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from html import escape

import streamlit as st
from sqlmodel import Session

from dashboard.context import current_context
from dashboard.ui import charts, elements, filters, formatting, stat_cards, tables, theme
from dashboard.ui.learning.facts import link
from dashboard.ui.stat_cards import Remark, StatCard
from storage.db.engine import Database
from storage.drift import queries
from storage.drift.detection import LABEL_DAYS
from storage.drift.measures import ACCURACY, MEANING, MEASURES, DriftKind, Measure, Scope
from storage.drift.queries import DriftAlarm, DriftPoint, Z
from storage.drift.watching import bring_up_to_date
from storage.jobs import queue, teams
from storage.jobs.queue import Submission
from storage.tables import DriftTest, Job
from storage.viewer import TRAINS, Viewer
from tenor.errors import TenorError

SPANS = {"4 weeks": 28, "8 weeks": 56, "6 months": 182, "1 year": 364}
LINES = 6
"""Labels of a chart, so that each has a colour of its own."""
SHOWN = 6
"""Alarms that are listed of each kind; the others on demand."""
KINDS: dict[DriftKind, tuple[str, str]] = {
    "data": ("Data drift", "callers say other things than when the model was new"),
    "concept": ("Concept drift", "the same things mean something else than the model thinks"),
}
TITLES: dict[Measure, str] = {
    "sentiment": "Sentiments",
    "intent": "Intents",
    "expected": "Expected accuracy",
    ACCURACY: "Live accuracy",
    "unknown words": "Unknown words",
    "confidence": "Confidence of the recogniser",
    "novelty": "Novelty",
    "foreign": "Other languages",
}
GROUPS: dict[Scope, str] = {"queue": "Queues", "site": "Sites"}
COLUMNS: tuple[tuple[str, Measure, str], ...] = (
    ("Negative", "sentiment", "negative"),
    ("Expected", "expected", "sentiment"),
    ("Accuracy", ACCURACY, "sentiment"),
    ("Unknown words", "unknown words", ""),
    ("Confidence", "confidence", ""),
)
"""What the list of queues and sites says of each."""
WORDS = ("learn",)


def show(viewer: Viewer, database: Database) -> None:
    tables.apply_styles()
    st.html(f"<style>{theme.asset('learning.css')}</style>")
    elements.heading("Drift", "is what is said still what the model learned?")
    with database.session() as session:
        newest = queries.last_day(session, viewer)
        names = {scope: queries.groups(session, viewer, scope) for scope in GROUPS}
    if not newest and not names["queue"] and not _measured(database, viewer):
        elements.empty_state(
            "No day was measured yet",
            "Days that are over are measured once a day by the stage that learns, or when somebody asks:",
            "tenor serve learn",
            "tenor drift",
        )
        _measure(viewer, database)
        return
    scope, name, first = _chosen(names)
    with database.session() as session:
        tests = queries.results(session, viewer, since=first, scope=scope, name=name)
        found = [one for one in queries.alarms(session, viewer, first) if scope in ("house", one.scope)]
        found = [one for one in found if scope == "house" or one.name == name]
        lines = _lines(session, viewer, scope, name, first, tests)
    today = {(one.measure, one.value): one for one in tests if one.day == newest}
    _cards(newest, today, [one for one in found if one.last == newest])
    left, right = st.columns([3, 1], vertical_alignment="center")
    with left:
        if newest:
            st.caption(f"The newest day that was examined is {_day(newest)}. A day is a day in UTC.")
        else:
            st.caption("Nothing is compared yet: that takes two weeks of one model, with twenty calls on a day.")
    with right:
        _measure(viewer, database)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _alarms("data", [one for one in found if one.kind == "data"], newest)
    with right:
        _alarms("concept", [one for one in found if one.kind == "concept"], newest)
        _learn(viewer, database)
    _charts(lines, tests)
    if scope == "house":
        for other, title in GROUPS.items():
            _groups(viewer, database, other, title, names[other], newest)


def _measured(database: Database, viewer: Viewer) -> bool:
    with database.session() as session:
        return bool(queries.series(session, viewer, "foreign"))


def _chosen(names: Mapping[Scope, Sequence[str]]) -> tuple[Scope, str, str]:
    """Of what, and since which day."""
    titles = {"house": "The whole house"}
    scopes: dict[str, tuple[Scope, str]] = {
        f"{scope}:{name}": (scope, name) for scope in GROUPS for name in names[scope]
    }
    titles |= {of: f"{scope.capitalize()} {name}" for of, (scope, name) in scopes.items()}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        of = filters.one_of("Of", titles, "of")
        span = st.segmented_control(
            "Period", list(SPANS), default="8 weeks", required=True, key="span", bind="query-params", wrap=True
        )
    first = datetime.now(UTC).date() - timedelta(days=SPANS[span or "8 weeks"])
    return *scopes.get(of, ("house", "")), first.isoformat()


def _lines(
    session: Session, viewer: Viewer, scope: Scope, name: str, first: str, tests: Sequence[DriftTest]
) -> dict[Measure, dict[str, list[DriftPoint]]]:
    """Of each measure its lines. Of accuracy that of four weeks, as it is tested: a day has few labels."""
    found = {
        measure: queries.series(session, viewer, measure, scope=scope, name=name, since=first) for measure in MEASURES
    }
    own = [one for one in tests if one.measure == ACCURACY]
    if own:
        found[ACCURACY] = {
            value: [_rolling(one) for one in own if one.value == value] for value in sorted({one.value for one in own})
        }
    last = max((one.day for one in tests), default="")
    alarming = {(one.measure, one.value) for one in tests if one.alarm and one.day == last}
    return {
        measure: _few(lines, {value for of, value in alarming if of == measure}) for measure, lines in found.items()
    }


def _few(lines: Mapping[str, list[DriftPoint]], alarming: Collection[str]) -> dict[str, list[DriftPoint]]:
    """Those that are an alarm now, and the most frequent, which come first."""
    chosen = [*(value for value in lines if value in alarming), *(value for value in lines if value not in alarming)]
    return {value: points for value, points in lines.items() if value in chosen[:LINES]}


def _rolling(one: DriftTest) -> DriftPoint:
    low, high = max(0.0, one.now - Z * one.error), min(1.0, one.now + Z * one.error)
    return DriftPoint(day=one.day, value=one.now, low=low, high=high, calls=one.calls, models=(one.model,))


# -- figures


def _cards(newest: str, today: Mapping[tuple[str, str], DriftTest], alarms: Sequence[DriftAlarm]) -> None:
    counts = {kind: sum(one.kind == kind for one in alarms) for kind in KINDS}
    told = Remark(f"{counts['data']} of data, {counts['concept']} of concept", "down" if alarms else "same")
    on = Remark(f"on {_day(newest)}" if newest else "nothing was compared yet")
    made = [StatCard("Alarms", formatting.count(len(alarms)), (told, on))]
    for title, measure, value in (
        ("Expected accuracy", "expected", "sentiment"),
        ("Live accuracy", ACCURACY, "sentiment"),
        ("Unknown words", "unknown words", ""),
        ("Confidence", "confidence", ""),
    ):
        one = today.get((measure, value))
        about = f" of {value}s" if value else ""
        if one is None:
            few = "too few labels of random sentences" if measure == ACCURACY else "too few calls"
            made.append(StatCard(title, formatting.NOTHING, (Remark(f"{few}{about}", "few"),)))
            continue
        against = "the gate measured" if one.against == "gate" else "usually"
        tone = "down" if one.alarm else "same"
        remarks = (Remark(f"{against} {one.before:.1%}{about}", tone),)
        made.append(StatCard(title, f"{one.now:.1%}", remarks))
    stat_cards.show(made)


def _charts(lines: Mapping[Measure, Mapping[str, Sequence[DriftPoint]]], tests: Sequence[DriftTest]) -> None:
    stat_cards.section("Day by day", "dashed: what is usual, or what the gate measured; triangles: days of an alarm")
    columns = st.columns(2, gap="medium")
    shown = [measure for measure in TITLES if any(lines[measure].values())]
    for number, measure in enumerate(shown):
        about = MEANING[measure] + (f", over {LABEL_DAYS} days" if measure == ACCURACY else "")
        with columns[number % 2]:
            stat_cards.section(TITLES[measure], about)
            own = [one for one in tests if one.measure == measure and one.value in lines[measure]]
            charts.show(charts.drift_over_time(lines[measure], own), key=f"drift_{measure}")
    if not any(lines[ACCURACY].values()):
        st.caption(
            "Live accuracy needs labels of random sentences on which two people agree: a quarter of what Review shows."
        )


def _groups(viewer: Viewer, database: Database, scope: Scope, title: str, names: Sequence[str], newest: str) -> None:
    """Every queue or site on the newest day, with what is an alarm there."""
    if not names:
        return
    with database.session() as session:
        tests = queries.results(session, viewer, since=newest, until=newest, scope=scope) if newest else []
    stat_cards.section(title, f"on {_day(newest)}, and what is usual" if newest else "")
    by_name: dict[str, dict[tuple[str, str], DriftTest]] = {name: {} for name in names}
    for one in tests:
        by_name.setdefault(one.name, {})[one.measure, one.value] = one
    head = "".join(f"<th>{column}</th>" for column in (title[:-1], "Alarms", *(column for column, *_ in COLUMNS)))
    rows = "".join(_group(scope, name, own) for name, own in by_name.items())
    st.html(f'<div class="t-beside t-drift"><table><tr>{head}</tr>{rows}</table></div>')


def _group(scope: Scope, name: str, own: Mapping[tuple[str, str], DriftTest]) -> str:
    alarms = sum(one.alarm for one in own.values())
    told = f'<b class="alarm">▲ {alarms}</b>' if alarms else "none" if own else "too little to compare"
    cells = "".join(_cell(own.get((measure, value))) for _, measure, value in COLUMNS)
    first = link("drift", name, of=f"{scope}:{name}")
    return f'<tr data-{scope}="{escape(name, quote=True)}"><td>{first}</td><td>{told}</td>{cells}</tr>'


def _cell(one: DriftTest | None) -> str:
    if one is None:
        return f"<td>{formatting.NOTHING}</td>"
    now = f'<b class="alarm">▲ {one.now:.1%}</b>' if one.alarm else f"{one.now:.1%}"
    return f"<td>{now} <small>{one.before:.1%}</small></td>"


# -- alarms


def _alarms(kind: DriftKind, found: Sequence[DriftAlarm], newest: str) -> None:
    title, about = KINDS[kind]
    stat_cards.section(title, about)
    if not found:
        st.html(f'<p class="t-none" data-kind="{kind}">No alarm in this period.</p>')
        return
    now = [one for one in found if one.last == newest]
    over = [one for one in found if one.last != newest]
    shown = [*now, *over][:SHOWN]
    rest = [one for one in found if one not in shown]
    more = f"<details><summary>{len(rest)} more</summary>{''.join(_alarm(one, newest) for one in rest)}</details>"
    st.html(f'<div data-kind="{kind}">{"".join(_alarm(one, newest) for one in shown)}{more if rest else ""}</div>')


def _alarm(one: DriftAlarm, newest: str) -> str:
    where = link("drift", f"{one.scope} {one.name}", of=f"{one.scope}:{one.name}") if one.name else "the house"
    what = f"{one.measure} {one.value.replace('_', ' ')}".strip()
    on = one.last == newest
    since = f"since {_day(one.first)}" if on else f"{_day(one.first)} to {_day(one.last)}"
    against = "the gate measured" if one.against == "gate" else "usually"
    level = '<span class="t-level error">▲ now</span>' if on else '<span class="t-level note">over</span>'
    p = "p < .000001" if one.p < 1e-6 else f"p = {one.p:.2g}"
    model = f", told by {one.model.partition('@')[0]}" if one.model else ""
    return (
        f'<div class="t-finding" data-measure="{escape(one.measure, quote=True)}">{level}'
        f"<b>{escape(what)}</b> of {where}: {one.now:.1%}, {against} {one.before:.1%} "
        f"<small>{since}, {escape(p + model)}</small></div>"
    )


def _day(day: str) -> str:
    """As a person writes it; the year where it is another."""
    one = date.fromisoformat(day)
    return f"{one.day} {one:%b}" if one.year == datetime.now(UTC).year else f"{one.day} {one:%b %Y}"


# -- measuring, and learning


def _measure(viewer: Viewer, database: Database) -> None:
    """For those who do not want to wait for the stage's next look."""
    if viewer.role not in TRAINS:
        return
    if not st.button("Measure the days that are over", key="measure", icon=":material/refresh:"):
        return
    try:
        update = bring_up_to_date(database, current_context().settings, progress=_bar())
    except TenorError as error:
        elements.error("They cannot be measured.", f"{error.message}. {error.hint}")
        return
    if not update.days:
        st.toast("No call is over on a day before today.")
        return
    st.rerun()


def _bar() -> Callable[[int, int, str], None]:
    bar = st.progress(0.0, "measuring")

    def progress(done: int, total: int, day: str) -> None:
        bar.progress(done / total, f"measuring {day}")

    return progress


def _learn(viewer: Viewer, database: Database) -> None:
    """The whole loop, as a job: it needs a core for minutes, which need not be this machine's."""
    stat_cards.section("Learn", "train with what people labelled since, and judge whether that is better")
    if viewer.role not in TRAINS:
        st.caption("Analysts and administrators start to learn.")
        return
    with database.session() as session:
        going_on = next((job for job in queue.listing(session) if tuple(job.words[:1]) == WORDS), None)
        known = sorted(teams.quotas(session))
        alive = bool(queue.runners(session))
    if going_on is not None:
        _under_way(going_on, alive)
        return
    with st.popover("Start to learn", icon=":material/school:"):
        st.caption(
            "Archives what is new, makes a dataset of all trusted labels, trains, and asks the gate. Nothing is put in "
            "force unless `learn.promote` says so; what came of it is on Models."
        )
        team = st.selectbox("Team whose share it takes", known, key="team") if len(known) > 1 else ""
        if st.button("Start `tenor learn`", key="learn", type="primary"):
            try:
                queue.submit(database, viewer, current_context().settings, Submission(WORDS, team=team or ""))
            except TenorError as error:
                elements.error("It was not started.", f"{error.message}. {error.hint}")
                return
            st.rerun()


def _under_way(job: Job, alive: bool) -> None:
    told = f"by {job.by}, {formatting.ago(job.submitted_at)}"
    run = link("runs", f"run {job.run}", runs=str(job.run)) if job.run else link("runs", "Training runs")
    st.html(
        f'<div class="t-said-last" data-job="{job.id}"><b>Job {job.id}</b>: tenor learn is {job.state}, '
        f"{escape(told)}; {run} shows how far it is.</div>"
    )
    if job.state != "running" and not alive:
        st.caption("Nobody runs jobs now: `tenor jobs run` starts it, on the machine that is to train.")
