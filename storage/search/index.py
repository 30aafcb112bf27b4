"""The full-text index: one document per sentence, with the words it can be found by.

    sentences, labels --triggers--> fts_documents --FTS5 (SQLite) or tsvector + GIN (PostgreSQL)

A document belongs to a sentence by a trigger and not by a foreign key, whose check would cost more than the index.
It holds what the models wrote down and, after a gap, the correction that counts (`labels.newest`). Triggers keep it
true whoever writes, so the writers know nothing of it; the migrations make tables and triggers. Both databases fold
case and accents and take every run of letters and digits for a word; that is why PostgreSQL gets more than
`to_tsvector`, which would keep e-mail addresses and prices together.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection

from tenor.search.terms import Term

STEP = 1 << 20
"""Room for the documents of one millisecond, by which the triggers number them."""
LAST_MS = 8_000_000_000_000
"""In the year 2223; what claims to be later counts as this, since numbers end."""


def number_at(moment: float) -> int:
    """On SQLite, a number no larger than that of any document spoken at this moment or later."""
    return int(max(0.0, min(moment * 1000 - 1, float(LAST_MS)))) * STEP


def rebuild(connection: Connection) -> None:
    """From the documents alone: no word of a deleted one is left in it."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("REINDEX INDEX fts_index")
    else:
        connection.exec_driver_sql("INSERT INTO fts_index (fts_index) VALUES ('rebuild')")


def fts5(terms: Iterable[Term]) -> str:
    """All of the terms, as FTS5 writes it. Words are letters and digits only, so quoting is enough."""
    return " AND ".join(f'"{" ".join(term.words)}"{"*" if term.prefix else ""}' for term in terms)


def fts5_any(terms: Iterable[Term]) -> str:
    return " OR ".join(fts5([term]) for term in terms)


def tsquery(terms: Iterable[Term]) -> str:
    """All of the terms, as PostgreSQL writes it."""
    return " & ".join(_lexemes(term) for term in terms)


def tsquery_any(terms: Iterable[Term]) -> str:
    return " | ".join(_lexemes(term) for term in terms)


def _lexemes(term: Term) -> str:
    words = [f"'{word}'" for word in term.words]
    return "(" + " <-> ".join(words) + (":*" if term.prefix else "") + ")"
