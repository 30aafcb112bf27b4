"""A search as people write it in one line: `queue:billing sentiment:negative since:2026-11-01 refund "last week"`."""

from __future__ import annotations

import re
from typing import Any

from storage.search.query import SearchQuery, from_dict
from tenor.errors import BadInput
from tenor.times import parse_time
from tenor.yaml.nodes import meant

FIELDS = (
    *(
        "sentiment",
        "intent",
        "role",
        "language",
        "task",
        "call",
        "agent",
        "customer",
        "queue",
        "site",
        "medium",
        "model",
        "rule",
    ),
    "severity",
)
TIMES = ("since", "until")
_FIELD = re.compile(r'(?<!\S)([a-z_]+):("[^"]*"|\S+)')


def query_from_text(text: str) -> SearchQuery:
    """Every field given must hold; of several values (`queue:cards,loans`) any. What is no field are words."""
    given: dict[str, Any] = {}
    for name, value in _FIELD.findall(text):
        value = value.strip('"')
        if name in TIMES:
            given[name] = parse_time(value)
        elif name in FIELDS:
            given[name] = [*given.get(name, ()), *(one for one in value.split(",") if one)]
        else:
            fields = (*FIELDS, *TIMES)
            raise BadInput(f"a search has no {name!r}{meant(name, fields)}", f"it has {', '.join(fields)}, and words")
    if words := " ".join(_FIELD.sub(" ", text).split()):
        given["words"] = words
    return from_dict(given)
