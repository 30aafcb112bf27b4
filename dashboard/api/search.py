"""Search over all sentences the asker may see."""

# Annotations are evaluated where they stand: FastAPI could not find `Who` by its name.

from collections.abc import Iterable
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, ConfigDict, Field

from dashboard.api import models
from dashboard.api.auth import ApiAuth, Requester
from dashboard.api.caching import ETagRoute
from dashboard.api.calls import MOST
from dashboard.api.errors import RESPONSES
from storage.db.engine import Database
from storage.search import Order, SearchQuery
from storage.search import search as find
from storage.search import search_calls as find_calls
from storage.search.query import checked
from storage.search.text import known_values
from tenor.errors import BadInput
from tenor.events import Medium
from tenor.search.calls import LONGEST
from tenor.settings import Settings
from tenor.taxonomy.aspects import aspects_in_force
from tenor.taxonomy.in_force import names_in_force
from tenor.taxonomy.sentiments import SHIPPED

Any = Annotated[tuple[Annotated[str, Field(max_length=500)], ...], Field(max_length=50)]


class CallConditions(BaseModel):
    """What calls must be like, as a query string; of several values of one name, any."""

    model_config = ConfigDict(extra="forbid")

    task: Any = ()
    call: Any = ()
    agent: Any = ()
    customer: Any = ()
    queue: Any = ()
    site: Any = ()
    medium: tuple[Medium, ...] = ()
    rule: Any = Field((), description="that fired in the call")
    severity: tuple[Literal["info", "warning", "critical"], ...] = Field((), description="of an alert in the call")
    alerted: bool = Field(False, description="only calls with alerts")


class SearchParameters(CallConditions):
    """`storage.search.SearchQuery` for sentences."""

    words: str = Field("", max_length=500, description='refund "last week" cancel* -thanks')
    sentiment: Any = ()
    intent: Any = ()
    role: Any = ()
    language: tuple[Literal["en", "other"], ...] = ()
    aspect: Any = Field((), description="product, service, support, brand, price or delivery")
    model: Any = Field((), description="a version of a model that understood the sentence: house-7")
    since: float | None = Field(None, description="spoken at this time or later, in seconds since the Unix epoch")
    until: float | None = Field(None, description="spoken before this time")
    order: Order = Field("newest", description="or closest: sentences first that say little else")
    cursor: str | None = Field(None, max_length=1000, description="`cursor` of the page before")
    limit: int = Field(50, ge=1, le=MOST)


class CallSearchParameters(CallConditions):
    """`storage.search.SearchQuery` for calls."""

    said: str = Field(
        max_length=LONGEST,
        description="sentences of one call, in brackets, joined by then, and, not: "
        "`(role:caller cancel*) then (role:agent sorry) and not (role:agent discount*)`. In brackets there are words "
        "and the fields role, intent, sentiment, language and aspect",
    )
    since: float | None = Field(None, description="the call began at this time or later, in seconds since the epoch")
    until: float | None = Field(None, description="the call began before this time")
    cursor: str | None = Field(None, max_length=1000, description="`cursor` of the page before")
    limit: int = Field(50, ge=1, le=MOST)


def router(settings: Settings, database: Database, auth: ApiAuth) -> APIRouter:
    made = APIRouter(route_class=ETagRoute, responses=RESPONSES, tags=["search"])
    Who = Annotated[Requester, Depends(auth.requester)]  # noqa: N806

    @made.get("/search")
    def search(who: Who, asked: Annotated[SearchParameters, Query()]) -> models.Hits:
        """Sentences by their words and by what they and their calls are like."""
        query = SearchQuery(**asked.model_dump(exclude={"cursor", "limit"}))
        _check("sentiment", query.sentiment, [*names_in_force(settings.language).sentiments, *SHIPPED])
        _check("aspect", query.aspect, aspects_in_force(settings.language))
        with database.session() as session:
            found = find(session, who.viewer, query, asked.limit, asked.cursor)
        return models.Hits(hits=[models.Hit.model_validate(hit) for hit in found.hits], cursor=found.cursor)

    @made.get("/search/calls")
    def search_calls(who: Who, asked: Annotated[CallSearchParameters, Query()]) -> models.CallHits:
        """Calls by several of their sentences: said and not said, by whom, in which order."""
        query = SearchQuery(**asked.model_dump(exclude={"cursor", "limit"}))
        with database.session() as session:
            checked(query, known_values(session, settings))
            found = find_calls(session, who.viewer, query, asked.limit, asked.cursor)
        calls = [models.CallHit.model_validate(call) for call in found.calls]
        return models.CallHits(calls=calls, total=found.total, cursor=found.cursor)

    return made


def _check(field: str, asked: tuple[str, ...], known: Iterable[str] | None) -> None:
    """A misspelt value would find nothing, which looks like an answer. What our own model says is always a sentiment:
    calls of before stay searchable."""
    there = None if known is None else dict.fromkeys(known)
    if there is not None and (wrong := [name for name in asked if name not in there]):
        raise BadInput(f"{field}: nothing is called {wrong[0]!r}; there are {', '.join(there)}")
