"""What a label may say: the names in force, and where the settings cannot know them all, those of the sentences.

A Riva server does not list its labels, and a model's folder need not be on the machine that shows the pages: what
sentences in the database carry is what their model can say.
"""

from __future__ import annotations

from collections.abc import Iterable

import structlog
from sqlalchemy import func, select
from sqlmodel import Session

from storage.tables import Sentence, Turn
from tenor.errors import BadInput
from tenor.settings import LanguageSettings
from tenor.taxonomy.assistant import SERVICE_ERROR, SLOT_NAMES, SPOKEN_INTENTS
from tenor.taxonomy.in_force import NamesInForce, in_order, names_in_force

SENTENCE = Sentence.__table__  # type: ignore[attr-defined]
TURN = Turn.__table__  # type: ignore[attr-defined]
MOST = 1_000
"""Names of a kind that are looked for; a model with more is none that people choose from. And turns that are asked."""

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
        [*names.sentiments, *_carried(session, "sentiment")],
        [*names.intents, *_carried(session, "intent")],
        names.slots,
    )


def turn_names(session: Session) -> NamesInForce:
    """The intents and slots that the assistant's turns may have: those that ship, and those of a flow's author that
    the newest turns carry. A line of a shopper has its sentiment as a sentence, not as a turn."""
    intents, slots = set(SPOKEN_INTENTS), set(SLOT_NAMES)
    newest = select(TURN.c.intent, TURN.c.tags).order_by(TURN.c.at.desc()).limit(MOST)
    for intent, tags in session.execute(newest):
        intents.add(intent)
        slots.update(tag[2:] for tag in tags if isinstance(tag, str) and tag[1:2] == "-")
    own = sorted(intents - {"", SERVICE_ERROR, *SPOKEN_INTENTS})
    return NamesInForce((), (*SPOKEN_INTENTS, *own), (*SLOT_NAMES, *sorted(slots - {"", *SLOT_NAMES})))


def searchable_names(session: Session, language: LanguageSettings) -> NamesInForce:
    """Those, and what sentences carry that another model understood."""
    names = allowed_names(session, language)
    sentiments = dict.fromkeys((*names.sentiments, *_carried(session, "sentiment")))
    intents = dict.fromkeys((*names.intents, *_carried(session, "intent")))
    return NamesInForce(tuple(sentiments), tuple(intents), names.slots)


def _carried(session: Session, kind: str) -> Iterable[str]:
    """The different values that sentences have. From one to the next in the index, so it does not matter how many
    sentences there are."""
    column = SENTENCE.c[kind]
    found = select(func.min(column).label("name")).cte("found", recursive=True)
    following = select(func.min(column)).where(column > found.c.name).correlate(found).scalar_subquery()
    found = found.union_all(select(following).where(found.c.name.is_not(None)))
    return session.scalars(select(found.c.name).where(found.c.name.is_not(None), found.c.name != "").limit(MOST)).all()
