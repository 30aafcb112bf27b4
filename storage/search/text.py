"""A search in one line, for commands: `queue:billing since:2026-11-01 refund "last week"`, or sentences of one call."""

from __future__ import annotations

from typing import Any, get_args

from sqlmodel import Session

from storage.labels.allowed import searchable_names
from storage.search.query import SearchQuery, from_dict
from tenor.errors import BadInput
from tenor.events import Medium
from tenor.model_store.store import language_in_force
from tenor.search import calls
from tenor.search.text import (
    ALONE,
    FIELDS,
    LANGUAGES,
    OF_CALL,
    OF_SENTENCE,
    TIMES,
    Known,
    SearchFaults,
    check_fields,
    split,
)
from tenor.settings import Settings
from tenor.taxonomy.aspects import CLASSIFIER, aspects_in_force
from tenor.taxonomy.intents import UNKNOWN
from tenor.taxonomy.sentiments import SHIPPED
from tenor.times import parse_time

NONE: Known = {}
SIDES = ("caller", "agent", "assistant")


def known_values(session: Session, settings: Settings) -> Known:
    """What a search may name, so that a misspelt name is told: it would find nothing, which looks like an answer."""
    language = language_in_force(settings)
    names, aspects = searchable_names(session, language), aspects_in_force(language)
    return {
        "role": tuple(dict.fromkeys((*SIDES, *settings.ingest.roles))),
        "intent": tuple(dict.fromkeys((*names.intents, UNKNOWN))),
        "sentiment": tuple(dict.fromkeys((*names.sentiments, *SHIPPED))),  # calls of before stay searchable
        "language": LANGUAGES,
        **({} if aspects is None else {CLASSIFIER: aspects}),
        "medium": get_args(Medium),
        "severity": ("info", "warning", "critical"),
    }


def query_from_text(text: str, known: Known = NONE) -> SearchQuery:
    """Every field given must hold; of several values (`queue:cards,loans`) any. What is no field are words. With
    sentences in brackets, it is a search for calls (`tenor.search.calls`)."""
    faults = SearchFaults()
    parts = split(text, faults)
    given: dict[str, Any] = {"words": parts.words}
    if parts.brackets:
        given["said"] = calls.of_brackets(parts.brackets, faults, known).text
    for field in parts.fields:
        if parts.brackets and field.name in (*OF_SENTENCE, *ALONE):
            where = "it belongs in brackets" if field.name in OF_SENTENCE else "it goes with no brackets"
            faults.add(field.column, f"{field.name!r} is about a sentence: {where}")
            continue
        names = (*OF_CALL, *TIMES) if parts.brackets else (*FIELDS, *TIMES)
        check_fields([field], names, faults, known)
        if field.name in TIMES and field.values:
            try:
                given[field.name] = parse_time(field.values[0])
            except BadInput as error:
                faults.add(field.column, error.message)
        else:
            given[field.name] = [*given.get(field.name, ()), *field.values]
    faults.raise_if_any(f"a search has words and {', '.join((*FIELDS, *TIMES))}")
    return from_dict({name: value for name, value in given.items() if value})


def text_of(query: SearchQuery) -> str:
    """The line that `query_from_text` reads as this search. It keeps no times."""
    fields = [f"{name}:{_quoted(','.join(values))}" for name in FIELDS if (values := getattr(query, name))]
    return " ".join([*fields, query.said or query.words]).strip()


def _quoted(value: str) -> str:
    return f'"{value}"' if " " in value or not value else value
