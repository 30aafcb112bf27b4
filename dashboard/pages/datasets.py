"""Datasets: what models learn from, version by version, what is wrong with it, and what is near the computation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape

import streamlit as st
from sqlalchemy import func, select
from sqlmodel import col

from dashboard.context import current_context
from dashboard.ui import elements, filters, formatting, navigation, stat_cards, tables, theme
from dashboard.ui.learning import dataset_cards
from dashboard.ui.learning.dataset_cards import DatasetSummary
from dashboard.ui.learning.facts import facts
from dashboard.ui.stat_cards import Remark, StatCard
from storage.datasets import DatasetVersion, cache, listing, open_dataset, versions
from storage.datasets.cache import CacheUse
from storage.datasets.checking import DatasetReport, Finding, check
from storage.datasets.splits import plain_words
from storage.db.engine import Database
from storage.place import Place
from storage.tables import Call, Run, Sentence
from storage.viewer import Viewer
from tenor.errors import TenorError

CARD_PX = 300
SHOWN = 20
"""Rows of a list of differences, and runs."""
CHANGES = {
    "added": "new rows",
    "removed": "rows that are gone",
    "relabelled": "rows with another label",
    "moved": "rows in another split",
}


def show(viewer: Viewer, database: Database) -> None:
    tables.apply_styles()
    st.html(f"<style>{theme.asset('learning.css')}</style>")
    elements.heading("Datasets", "what models learn from")
    settings = current_context().settings
    try:
        place = Place(settings.learn_url)
        found, use = list(listing(place)), cache.use(settings)
    except TenorError as error:
        elements.error("The archive cannot be read.", f"{error.message}. {error.hint}")
        return
    if not found:
        elements.empty_state(
            "No dataset yet",
            "A dataset freezes sentences that people have labelled. Make one of your labels, or watch it happen:",
            "tenor dataset make house",
            "tenor learn --sample",
        )
        return
    with database.session() as session:
        last = select(col(Run.dataset), func.max(col(Run.started_at))).group_by(col(Run.dataset))
        trained = {str(dataset): float(at) for dataset, at in session.execute(last)}
    all_of_them = dataset_cards.summaries(found, use.entries, trained)
    _header(all_of_them, use)
    names = [one.name for one in all_of_them]
    wanted = st.query_params.get("dataset", "")
    chosen = all_of_them[names.index(wanted) if wanted in names else 0]
    if wanted and wanted not in names:
        elements.error("There is no such dataset.", f"{wanted} may have been renamed or removed.")
    _cards(viewer, place, all_of_them, chosen)
    _version(viewer, database, place, chosen)


def _header(found: Sequence[DatasetSummary], use: CacheUse) -> None:
    settings = current_context().settings
    many = sum(len(one.versions) for one in found)
    cached = sum(len(one.cached) for one in found)
    place = "an address" if "://" in settings.learn_url else "a folder"
    second = "and a second place" if settings.learn.sync else "no second place"
    aged = f"{formatting.counted(cached, 'version')}; removed after {settings.learn.cache_hours:g} h unused"
    stat_cards.show(
        [
            StatCard("Datasets", formatting.count(len(found)), (Remark(formatting.counted(many, "version")),)),
            StatCard("Size", formatting.size(sum(one.newest.bytes for one in found)), (Remark("newest versions"),)),
            StatCard(
                "Places", formatting.count(1 + bool(settings.learn.sync)), (Remark(f"{place}, {second}"),)
            ),
            StatCard(
                "Cached",
                formatting.size(use.bytes),
                (Remark(aged), Remark(f"{formatting.size(use.free)} free")),
            ),
        ]
    )  # fmt: skip


# -- cards


def _cards(viewer: Viewer, place: Place, found: Sequence[DatasetSummary], chosen: DatasetSummary) -> None:
    with st.container(horizontal=True):
        for one in found:
            with st.container(border=True, width=CARD_PX, key=f"card_{one.name}"):
                st.html(dataset_cards.card(one, chosen=one is chosen))
                _cache_button(viewer, place, one.newest, cached=one.newest.version in one.cached, key=one.name)


def _cache_button(viewer: Viewer, place: Place, version: DatasetVersion, *, cached: bool, key: str) -> None:
    """One click puts a version near the computation, or takes it away."""
    settings = current_context().settings
    label = f"Clear {version.reference} from the cache" if cached else f"Cache {version.reference}"
    icon = ":material/mode_cool:" if cached else ":material/bolt:"
    if not st.button(label, key=f"cache_{key}_{version.version}", icon=icon):
        return
    try:
        viewer.must_train("use datasets")
        if cached:
            if not cache.clear(settings, version):
                elements.error("It stays.", "Somebody trains with it, or it is gone already.")
                return
        else:
            open_dataset(settings, version.reference, viewer=viewer, progress=_bar("filling the cache")).close()
    except TenorError as error:
        elements.error("The cache is as it was.", f"{error.message}. {error.hint}")
        return
    st.rerun()


def _bar(what: str) -> Callable[[int, int], None]:
    """Shows how far it is, until it is done."""
    bar = st.progress(0.0, what)

    def progress(done: int, total: int) -> None:
        if done < total:
            bar.progress(done / total, what)
        else:
            bar.empty()

    return progress


# -- one version


def _version(viewer: Viewer, database: Database, place: Place, summary: DatasetSummary) -> None:
    by_number = {str(one.version): one for one in reversed(summary.versions)}
    titles = {number: f"{one.reference} · {formatting.moment(one.made_at)}" for number, one in by_number.items()}
    stat_cards.section(summary.name, "one version of it")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        version = by_number[filters.one_of("Version", titles, "version")]
        if version is not summary.newest:  # the newest has its button on the card
            cached = version.version in summary.cached
            _cache_button(viewer, place, version, cached=cached, key="version")
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.html(_facts(version, version.version in summary.cached))
        st.html(dataset_cards.split_bar(version))
    with right:
        for kind, counts in version.labels.items():
            if kind != "slots":
                stat_cards.section(formatting.words(kind), f"{formatting.count(sum(counts.values()))} rows")
                st.html(dataset_cards.label_bars(counts))
    _quality(viewer, database, place, version)
    _differences(viewer, database, place, version, summary)
    _trained(database, version)


def _facts(version: DatasetVersion, cached: bool) -> str:
    told = {
        "Made": f"{formatting.moment(version.made_at)} by {version.by or 'nobody'}",
        "From": "an import" if version.source == "import" else "a search",
        "Search" if version.source == "search" else "Imported": version.query or "every sentence with a label",
        "Snapshot": version.snapshot,
        "Hash": version.hash[:16],
        "After": f"{version.name}@{version.parent}" if version.parent else "",
        "Near the computation": "yes, in the cache" if cached else "no, in the archive only",
        "Left out": "; ".join(f"{formatting.count(count)}: {why}" for why, count in version.left_out.items()),
        "Amended": f"by {version.erasures} erasure{'' if version.erasures == 1 else 's'}" if version.erasures else "",
    }
    return facts({name: escape(text) for name, text in told.items()})


# -- what is wrong with it


@st.fragment
def _quality(viewer: Viewer, database: Database, place: Place, version: DatasetVersion) -> None:
    """Only when it is asked for: of a million rows it takes a while."""
    stat_cards.section("Check", "leaks, balance, duplicates, contradictions, personal data, share of all sentences")
    key = f"check {version.reference} {version.rows}"
    if st.button("Check again" if key in st.session_state else f"Check {version.reference}", key="check"):
        context = current_context()
        frozen = {plain_words(text) for text in context.tools.frozen()}
        try:
            st.session_state[key] = check(place, version, context.names(), frozen=frozen, progress=_bar("checking"))
        except TenorError as error:
            elements.error("It cannot be checked.", f"{error.message}. {error.hint}")
            return
    report: DatasetReport | None = st.session_state.get(key)
    if report is None:
        st.caption(f"Not checked here yet. `tenor dataset check {version.reference}` says the same in a terminal.")
        return
    verdict = "May be trained with" if report.may_train else "May not be trained with"
    errors = sum(finding.level == "error" for finding in report.findings)
    warnings = sum(finding.level == "warning" for finding in report.findings)
    told = f"{formatting.counted(errors, 'error')}, {formatting.counted(warnings, 'warning')}"
    st.html(f'<div class="t-said-last" data-testid="verdict"><b>{verdict}</b>: {told}</div>')
    with_words = _words(viewer, database, [row for finding in report.findings for row in finding.rows])
    st.html("".join(_finding(finding, with_words) for finding in report.findings) or "<p>Nothing is odd about it.</p>")


def _finding(finding: Finding, known: Mapping[str, tuple[str, str]]) -> str:
    some = f"<details><summary>some of them</summary>{_linked(finding.rows, known)}</details>" if finding.rows else ""
    return (
        f'<div class="t-finding" data-about="{escape(finding.about, quote=True)}">'
        f'<span class="t-level {finding.level}">{finding.level}</span>'
        f"<b>{escape(formatting.words(finding.about))}</b>: {escape(finding.message)}{some}</div>"
    )


def _words(viewer: Viewer, database: Database, ids: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Call and words of the sentences that are still in the database; a dataset holds neither."""
    wanted = list(dict.fromkeys(ids))
    found = select(col(Sentence.id), col(Sentence.call), col(Sentence.text)).join(
        Call, col(Call.id) == col(Sentence.call)
    )
    with database.session() as session:
        rows = session.execute(found.where(col(Sentence.id).in_(wanted), viewer.clause())) if wanted else ()
        return {row.id: (row.call, row.text) for row in rows}


def _linked(ids: Sequence[str], known: Mapping[str, tuple[str, str]]) -> str:
    lines = []
    for one in ids:
        if one in known:
            call, text = known[one]
            link = escape(navigation.address("call", call=call, sentence=one), quote=True)
            lines.append(f'<a href="{link}" target="_self">{escape(text)}</a>')
        else:
            lines.append(f"<div>{escape(one)}</div>")
    return "".join(lines)


# -- how versions differ


def _differences(
    viewer: Viewer, database: Database, place: Place, version: DatasetVersion, summary: DatasetSummary
) -> None:
    others = [one for one in reversed(summary.versions) if one.version != version.version]
    if not others:
        return
    stat_cards.section("What has changed", "rows by their ids")
    by_number = {str(one.version): one for one in others}
    usual = list(by_number).index(str(version.parent)) if str(version.parent) in by_number else 0
    other = st.selectbox(
        "Compared with", list(by_number), index=usual, key=f"other_{version.version}", width=280,
        format_func=lambda one: f"{summary.name}@{one}",
    )  # fmt: skip
    try:
        found = versions.diff(place, by_number[other], version)
    except TenorError as error:
        elements.error("They cannot be compared.", f"{error.message}. {error.hint}")
        return
    with_words = _words(viewer, database, [one for ids in found for one in ids[:SHOWN]])
    lines = []
    for what, ids in found._asdict().items():
        some = f"<details><summary>some of them</summary>{_linked(ids[:SHOWN], with_words)}</details>" if ids else ""
        count = f'<span class="t-level note">{formatting.count(len(ids))}</span>'
        lines.append(f'<div class="t-finding" data-change="{what}">{count}{CHANGES[what]}{some}</div>')
    st.html("".join(lines))


def _trained(database: Database, version: DatasetVersion) -> None:
    with database.session() as session:
        query = select(Run).where(col(Run.dataset) == version.reference).order_by(col(Run.id).desc()).limit(SHOWN)
        runs = list(session.scalars(query))
    stat_cards.section("Trained with it")
    if not runs:
        st.caption(f"No run yet. `tenor finetune {version.reference} --recipe head` trains with it.")
        return
    rows = "".join(
        f'<a class="t-row" target="_self" href="{escape(navigation.address("runs", runs=str(run.id)), quote=True)}">'
        f'<span class="when">run {run.id}</span><span class="what">{escape(run.recipe)}'
        f"<small>{escape(formatting.moment(run.started_at))}, by {escape(run.by)}</small></span>"
        f'<span class="felt">{escape(run.model or run.state)}</span></a>'
        for run in runs
    )
    st.html(f'<div class="t-rows">{rows}</div>')
