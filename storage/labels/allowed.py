"""What a label may say: the names in force, and where the settings cannot know them all, those of the sentences.

A Riva server does not list its labels, and a model's folder need not be on the machine that shows the pages: what
sentences in the database carry is what their model can say.
"""

from __future__ import annotations

from collections.abc import Iterable

import structlog
from sqlalchemy import func, select
from sqlmodel import Session

from storage.tables import Sentence
from tenor.errors import BadInput
from tenor.settings import LanguageSettings
from tenor.taxonomy.in_force import NamesInForce, in_order, names_in_force

SENTENCE = Sentence.__table__  # type: ignore[attr-defined]
MOST = 1_000
"""Names of a kind that are looked for; a model with more is none that people choose from."""

log = structlog.get_logger(__name__)


def allowed_names(session: Session, language: LanguageSettings) -> NamesInForce:
    """The sentiments and intents that a person may choose from."""
    try:
        names = names_in_force(language)
    except BadInput as error:
        log.warning("the names in force cannot be read here: labels go by the sentences", reason=error.message)
        return in_order(_carried(session, "sentiment"), _carried(session, "intent"))
    if language.backend == "local":
        return names
    return in_order(
        [*names.sentiments, *_carried(session, "sentiment")], [*names.intents, *_carried(session, "intent")]
    )


def searchable_names(session: Session, language: LanguageSettings) -> NamesInForce:
    """Those, and what sentences carry that another model understood."""
    names = allowed_names(session, language)
    sentiments = dict.fromkeys((*names.sentiments, *_carried(session, "sentiment")))
    intents = dict.fromkeys((*names.intents, *_carried(session, "intent")))
    return NamesInForce(tuple(sentiments), tuple(intents))


def _carried(session: Session, kind: str) -> Iterable[str]:
    """The different values that sentences have. From one to the next in the index, so it does not matter how many
    sentences there are."""
    column = SENTENCE.c[kind]
    found = select(func.min(column).label("name")).cte("found", recursive=True)
    following = select(func.min(column)).where(column > found.c.name).correlate(found).scalar_subquery()
    found = found.union_all(select(following).where(found.c.name.is_not(None)))
    return session.scalars(select(found.c.name).where(found.c.name.is_not(None), found.c.name != "").limit(MOST)).all()
