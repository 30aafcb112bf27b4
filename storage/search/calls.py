"""Calls by several of their sentences, newest first, page by page.

with database.session() as session:
    found = search_calls(session, viewer, SearchQuery(said="(role:caller cancel*) then (role:agent sorry)"))
    found.calls[0].sentences[0].snippet.marks

The database finds the sentences, the rarest first, and of the others only those of calls that are left. Whether they
are in the right order is decided here, by the code that decides it for rules (`tenor.search.calls`).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Collection, Iterator
from typing import NamedTuple

import msgspec
from sqlalchemy import ColumnElement, select
from sqlmodel import Session

from storage.labels.effective import CALL, SENTENCE
from storage.search.query import SearchQuery, checked
from storage.search.sentences import Hit, conditions, hits_of, of_calls, parts
from storage.viewer import Viewer
from tenor.errors import BadInput
from tenor.reading import decode_json
from tenor.search.calls import CallSearch, Position, SaidSentence

MOST = 500
"""Calls of one page at most."""
FEW = 2_000
"""Up to so many calls, the next sentences are looked for in these alone."""


class CallHit(msgspec.Struct, frozen=True, kw_only=True):
    """A call that was found, and in it the sentences that were asked for, in the order of the search."""

    call: str
    started_at: float
    medium: str
    task: str
    agent: str
    customer: str
    queue: str
    site: str
    sample: bool
    sentences: list[Hit]


class CallPage(msgspec.Struct, frozen=True, kw_only=True):
    calls: list[CallHit]
    total: int
    """Of all pages."""
    cursor: str | None
    """Where the next page begins; None: there is none."""


class _FoundCall(NamedTuple):
    started_at: float
    call: str
    sentences: dict[int, Position]


def search_calls(
    session: Session, viewer: Viewer, query: SearchQuery, limit: int = 50, cursor: str | None = None
) -> CallPage:
    """One page of what the viewer may see."""
    limit = min(max(limit, 1), MOST)
    search = checked(query)
    if search is None:
        raise BadInput("this search is for sentences", "a search for calls has them in brackets")
    found = _find(session, viewer, query, search)
    total = len(found)
    if cursor:
        place = _read(cursor)
        found = [one for one in found if (one.started_at, one.call) < place]
    page = found[:limit]
    return CallPage(
        calls=_hits(session, search, page),
        total=total,
        cursor=_cursor(page[-1]) if len(found) > limit else None,
    )


def call_ids(session: Session, viewer: Viewer, query: SearchQuery) -> list[str]:
    """Of all calls that are found, the newest first."""
    search = checked(query)
    return [] if search is None else [one.call for one in _find(session, viewer, query, search)]


def sentence_ids(session: Session, viewer: Viewer, query: SearchQuery) -> set[str]:
    """Of all sentences that are found, however many; of a search for calls, all that was said in them."""
    if checked(query) is None:
        found = conditions(select(SENTENCE.c.id), session, viewer, query)
        return {id_ for part in parts(found, query) for id_ in session.scalars(part)}
    calls = call_ids(session, viewer, query)
    some = (calls[start : start + FEW] for start in range(0, len(calls), FEW))
    return {id_ for few in some for id_ in session.scalars(select(SENTENCE.c.id).where(SENTENCE.c.call.in_(few)))}


def _find(session: Session, viewer: Viewer, query: SearchQuery, search: CallSearch) -> list[_FoundCall]:
    places: list[dict[str, list[Position]]] = [{} for _ in search.sentences]
    left: dict[str, float] | None = None
    for number in sorted(search.wanted, key=lambda number: _rarity(search.sentences[number])):
        found = _sentences(session, viewer, query, search.sentences[number], left)
        places[number] = {call: own for call, (_, own) in found.items()}
        left = {call: began for call, (began, _) in found.items() if left is None or call in left}
        if not left:
            return []
    if left is None:  # nothing must be said: every call in which somebody spoke
        spoken = select(SENTENCE.c.id).where(SENTENCE.c.call == CALL.c.id).exists()
        every = select(CALL.c.id, CALL.c.started_at).where(*of_calls(viewer, query), spoken, *_began(query))
        every = every.where(CALL.c.id.in_(query.call)) if query.call else every
        left = {row.id: row.started_at for row in session.execute(every)}
    for number in search.unwanted:
        said = _sentences(session, viewer, query, search.sentences[number], left)
        places[number] = {call: own for call, (_, own) in said.items()}
    nothing: list[Position] = []
    calls = [
        _FoundCall(began, call, sentences)
        for call, began in left.items()
        if (sentences := search.find([sorted(own.get(call, nothing)) for own in places])) is not None
    ]
    return sorted(calls, key=lambda one: (one.started_at, one.call), reverse=True)


def _rarity(said: SaidSentence) -> int:
    """Words are said less often than an intent is meant, and that less often than a side speaks."""
    names = [name for name, _ in said.fields]
    return 0 if said.terms.wanted else 1 if "intent" in names else 2 if "sentiment" in names else 3


def _sentences(
    session: Session,
    viewer: Viewer,
    query: SearchQuery,
    said: SaidSentence,
    calls: Collection[str] | None,
) -> dict[str, tuple[float, list[Position]]]:
    """By call when it began, and where such sentences are."""
    own = msgspec.structs.replace(query, said="", since=None, until=None, words=said.words, **dict(said.fields))
    columns = select(SENTENCE.c.call, CALL.c.started_at, SENTENCE.c.start_ms, SENTENCE.c.id)
    found: dict[str, tuple[float, list[Position]]] = {}
    wanted = conditions(columns, session, viewer, own).where(*_began(query))
    if calls is not None and len(calls) <= FEW:
        wanted = wanted.where(SENTENCE.c.call.in_(sorted(calls)))
    for part in parts(wanted, own):
        for call, began, start_ms, id_ in session.execute(part):
            found.setdefault(call, (began, []))[1].append((start_ms, id_))
    return found


def _began(query: SearchQuery) -> Iterator[ColumnElement[bool]]:
    """A search for calls asks when these began, not when a sentence was spoken."""
    if query.since is not None:
        yield CALL.c.started_at >= query.since
    if query.until is not None:
        yield CALL.c.started_at < query.until


def _hits(session: Session, search: CallSearch, page: list[_FoundCall]) -> list[CallHit]:
    wanted = {place[1]: search.sentences[number].terms for one in page for number, place in one.sentences.items()}
    hits = hits_of(session, wanted)
    calls = {
        row.id: row
        for row in session.execute(
            select(*(CALL.c[name] for name in _OF_CALL)).where(CALL.c.id.in_([one.call for one in page]))
        )
    }
    return [
        CallHit(
            call=one.call,
            sentences=[hits[place[1]] for _, place in sorted(one.sentences.items()) if place[1] in hits],
            **{name: getattr(calls[one.call], name) for name in _OF_CALL if name != "id"},
        )
        for one in page
        if one.call in calls
    ]


_OF_CALL = ("id", "started_at", "medium", "task", "agent", "customer", "queue", "site", "sample")


def _cursor(last: _FoundCall) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode((last.started_at, last.call))).decode().rstrip("=")


def _read(cursor: str) -> tuple[float, str]:
    try:
        return decode_json(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)), tuple[float, str])
    except (msgspec.MsgspecError, binascii.Error, ValueError):
        raise BadInput("this is no place in the search's results", "use the cursor of the page before") from None
