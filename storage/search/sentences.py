"""Search over all sentences a viewer may see: words and filters, newest or closest first, page by page.

with database.session() as session:
    found = search(session, viewer, SearchQuery(words='refund "last week"', sentiment=("negative",)))
    found.hits[0].snippet.text, found.hits[0].snippet.marks
    more = search(session, viewer, query, cursor=found.cursor)
"""

from __future__ import annotations

import base64
import binascii
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date, datetime, tzinfo
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import ColumnElement, Select, String, and_, column, func, literal, not_, or_, select, table, tuple_
from sqlmodel import Session

from storage.labels.effective import CALL, LABEL, SENTENCE, effective
from storage.queries.aspects import has_aspect
from storage.search import index
from storage.search.query import SearchQuery, checked
from storage.search.snippet import Snippet, cut
from storage.tables import Alert
from storage.viewer import Viewer
from tenor.errors import BadInput
from tenor.reading import decode_json
from tenor.search import terms
from tenor.search.terms import Terms

ALERT = Alert.__table__  # type: ignore[attr-defined]
DOCUMENT = table("fts_documents", column("number"), column("sentence"), column("words"), column("lexemes"))
INDEX = table("fts_index", column("rowid"), column("fts_index"))
OF_SENTENCE = ("id", "call", "channel", "start_ms", "end_ms", "spoken_at", "text", "mood", "language")
OF_CALL = ("task", "medium", "agent", "customer", "queue", "site", "started_at", "sample")
MOST = 500
"""Hits of one page at most."""
QUARTER_S = 900
"""No day begins within a quarter of an hour, whatever the zone."""


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence that was found, as people left it, and what one needs to know of its call."""

    sentence: str
    call: str
    snippet: Snippet
    original: Snippet | None
    """What the models wrote down, when a person corrected it."""
    channel: int
    role: str
    start_ms: int
    end_ms: int
    spoken_at: float
    sentiment: str
    mood: float
    intent: str
    language: str
    task: str
    medium: str
    agent: str
    customer: str
    queue: str
    site: str
    started_at: float
    rules: tuple[str, ...]
    """Rules that this sentence set off."""
    sample: bool


class SearchPage(msgspec.Struct, frozen=True, kw_only=True):
    hits: list[Hit]
    cursor: str | None
    """Where the next page begins; None: there is none."""


def search(
    session: Session, viewer: Viewer, query: SearchQuery, limit: int = 50, cursor: str | None = None
) -> SearchPage:
    """One page of what the viewer may see."""
    limit = min(max(limit, 1), MOST)
    _must_be_for_sentences(query)
    said = terms.read(query.words)
    by_number = _by_number(session, said)
    closest = query.order == "closest" and bool(said.wanted)
    closeness = func.length(DOCUMENT.c.words) if closest else literal(0)
    number = (INDEX.c.rowid if by_number else literal(0)).label("number")
    found = conditions(select(*_of_hit(), closeness.label("closeness"), number), session, viewer, query)
    newest = (INDEX.c.rowid.desc(),) if by_number else (SENTENCE.c.spoken_at.desc(), SENTENCE.c.id.desc())
    found = found.order_by(*((closeness,) if closest else ()), *newest)
    if cursor:
        place = _read(cursor)
        later = INDEX.c.rowid < place.number if by_number else _later(place)
        nearer = or_(closeness > place.closeness, and_(closeness == place.closeness, later))
        found = found.where(nearer if closest else later)
    rows = [row for part in parts(found, query) for row in session.execute(part.limit(limit + 1))]
    if not said.wanted:
        rows.sort(key=lambda row: (row.spoken_at, row.id), reverse=True)
    page = rows[:limit]
    rules = _rules(session, [row.id for row in page])
    return SearchPage(
        hits=[_hit(row, said, rules.get(row.id, ())) for row in page],
        cursor=_cursor(page[-1]) if len(rows) > limit else None,
    )


def hits_of(session: Session, wanted: Mapping[str, Terms]) -> dict[str, Hit]:
    """Sentences by their ids, each with what was looked for in it. Whether they may be seen was asked before."""
    found = select(*_of_hit()).select_from(SENTENCE).join(CALL, CALL.c.id == SENTENCE.c.call)
    rows = list(session.execute(found.where(SENTENCE.c.id.in_(wanted))))
    rules = _rules(session, [row.id for row in rows])
    return {row.id: _hit(row, wanted[row.id], rules.get(row.id, ())) for row in rows}


def by_day(
    session: Session, viewer: Viewer, query: SearchQuery, zone: tzinfo, most: int = 100_000
) -> Counter[tuple[date, str]]:
    """How many there are of each day and sentiment, counted no further than `most`."""
    _must_be_for_sentences(query)
    columns = (SENTENCE.c.spoken_at, effective("sentiment").label("sentiment"))
    found = conditions(select(*columns), session, viewer, query)
    days: Counter[tuple[date, str]] = Counter()
    for part in parts(found, query):
        some = part.limit(most - days.total()).subquery()
        quarter = func.floor(some.c.spoken_at / QUARTER_S).label("quarter")
        many = select(quarter, some.c.sentiment, func.count()).group_by(quarter, some.c.sentiment)
        for number, sentiment, times in session.execute(many):
            days[datetime.fromtimestamp(number * QUARTER_S, zone).date(), sentiment] += times
    return days


def parts(found: Select[Any], query: SearchQuery) -> list[Select[Any]]:
    """A search for an intent or a sentiment and no words goes through an index of its own: what the models called so,
    a part a value, and what only people called so. What a person said is known only at the row, and neither database
    would find the few rows among all by that."""
    name = next((name for name in ("intent", "sentiment") if getattr(query, name)), None)
    if name is None or terms.read(query.words).wanted or query.call or query.customer:
        return [found]
    values = getattr(query, name)
    people = select(LABEL.c.sentence).where(LABEL.c.kind == name, LABEL.c.value.in_(values))
    only_people = found.where(SENTENCE.c.id.in_(people), SENTENCE.c[name].not_in(values))
    return [*(found.where(SENTENCE.c[name] == value) for value in dict.fromkeys(values)), only_people]


def conditions(found: Select[Any], session: Session, viewer: Viewer, query: SearchQuery) -> Select[Any]:
    """For a query that asks sentences and their calls: only those that the viewer may see and that are like this."""
    said = terms.read(query.words)
    sqlite = session.get_bind().dialect.name == "sqlite"
    found = found.where(*of_calls(viewer, query), *(_words_sqlite(said, query) if sqlite else _words_postgres(said)))
    if _by_number(session, said):
        found = found.select_from(INDEX).join(DOCUMENT, DOCUMENT.c.number == INDEX.c.rowid)
        found = found.join(SENTENCE, SENTENCE.c.id == DOCUMENT.c.sentence)
    else:
        found = found.select_from(SENTENCE)
        if said.wanted or said.unwanted:
            found = found.join(DOCUMENT, DOCUMENT.c.sentence == SENTENCE.c.id)
    found = found.join(CALL, CALL.c.id == SENTENCE.c.call)
    for name in ("language", "call"):
        if values := getattr(query, name):
            found = found.where(SENTENCE.c[name].in_(values))
    for name in ("sentiment", "intent", "role"):
        if values := getattr(query, name):
            found = found.where(effective(name).in_(values))
    if query.aspect:
        found = found.where(or_(*map(has_aspect, query.aspect)))
    if query.model:
        told = SENTENCE.c.models.cast(String)  # {"intent": "house-7@1f0c8a42"}
        names = [f'"{model}{end}' for model in query.model for end in ("@", '"')]
        found = found.where(or_(*(told.contains(name, autoescape=True) for name in names)))
    if query.since is not None:
        found = found.where(SENTENCE.c.spoken_at >= query.since)
    if query.until is not None:
        found = found.where(SENTENCE.c.spoken_at < query.until)
    return found


def of_calls(viewer: Viewer, query: SearchQuery) -> Iterator[ColumnElement[bool]]:
    """What the call must be like, for a query that asks `calls`."""
    yield viewer.clause()
    for name in ("task", "agent", "customer", "queue", "site", "medium"):
        if values := getattr(query, name):
            yield CALL.c[name].in_(values)
    if query.rule or query.severity or query.alerted:
        fired = select(ALERT.c.call)
        fired = fired.where(ALERT.c.rule.in_(query.rule)) if query.rule else fired
        fired = fired.where(ALERT.c.severity.in_(query.severity)) if query.severity else fired
        yield CALL.c.id.in_(fired)


def _must_be_for_sentences(query: SearchQuery) -> None:
    if checked(query) is not None:
        raise BadInput("this search is for calls", "one for sentences has no brackets")


def _by_number(session: Session, said: Terms) -> bool:
    """Whether the index itself gives the newest first."""
    return session.get_bind().dialect.name == "sqlite" and bool(said.wanted)


def _of_hit() -> list[ColumnElement[Any]]:
    return [
        *(SENTENCE.c[name] for name in OF_SENTENCE),
        effective("role").label("role"),
        effective("sentiment").label("sentiment"),
        effective("intent").label("intent"),
        effective("text").label("text_now"),
        *(CALL.c[name] for name in OF_CALL),
    ]


def _words_postgres(said: Terms) -> list[ColumnElement[bool]]:
    def matches(query: str) -> ColumnElement[bool]:
        return DOCUMENT.c.lexemes.op("@@", is_comparison=True)(func.to_tsquery("simple", query))

    clauses = [matches(index.tsquery(said.wanted))] if said.wanted else []
    return [*clauses, not_(matches(index.tsquery_any(said.unwanted)))] if said.unwanted else clauses


def _words_sqlite(said: Terms, query: SearchQuery) -> list[ColumnElement[bool]]:
    clauses: list[ColumnElement[bool]] = []
    if said.wanted:
        clauses.append(INDEX.c.fts_index.op("MATCH")(index.fts5(said.wanted)))
        # Numbers go by time, so the index itself need not look beyond the times asked for.
        if query.since is not None:
            clauses.append(INDEX.c.rowid >= index.number_at(query.since))
        if query.until is not None:
            clauses.append(INDEX.c.rowid <= index.number_at(query.until + 0.01))
    if said.unwanted:
        unwanted = INDEX.alias()
        matches = unwanted.c.fts_index.op("MATCH")(index.fts5_any(said.unwanted))
        clauses.append(DOCUMENT.c.number.not_in(select(unwanted.c.rowid).where(matches)))
    return clauses


class _Place(NamedTuple):
    """Where a page ended."""

    closeness: int
    number: int
    spoken_at: float
    sentence: str


def _later(place: _Place) -> ColumnElement[bool]:
    return tuple_(SENTENCE.c.spoken_at, SENTENCE.c.id) < tuple_(literal(place.spoken_at), literal(place.sentence))


def _read(cursor: str) -> _Place:
    try:
        place = decode_json(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)), _Place)
        if max(abs(place.closeness), abs(place.number)) < 1 << 63:  # as large as a database counts
            return place
    except (msgspec.MsgspecError, binascii.Error, ValueError):
        pass
    raise BadInput("this is no place in the search's results", "use the cursor of the page before")


def _cursor(row: Any) -> str:
    place = msgspec.json.encode(_Place(row.closeness, row.number, row.spoken_at, row.id))
    return base64.urlsafe_b64encode(place).decode().rstrip("=")


def _rules(session: Session, sentences: list[str]) -> dict[str, tuple[str, ...]]:
    rules: dict[str, tuple[str, ...]] = {}
    fired = select(ALERT.c.sentence, ALERT.c.rule).where(ALERT.c.sentence.in_(sentences)).order_by(ALERT.c.at)
    for sentence, rule in session.execute(fired) if sentences else ():
        rules[sentence] = (*rules.get(sentence, ()), rule)
    return rules


def _hit(row: Any, said: Terms, rules: tuple[str, ...]) -> Hit:
    as_is = {name: getattr(row, name) for name in (*OF_SENTENCE, *OF_CALL) if name not in ("id", "text")}
    return Hit(
        sentence=row.id,
        snippet=cut(row.text_now, said.wanted),
        original=cut(row.text, said.wanted) if row.text_now != row.text else None,
        role=row.role,
        sentiment=row.sentiment,
        intent=row.intent,
        rules=rules,
        **as_is,
    )
