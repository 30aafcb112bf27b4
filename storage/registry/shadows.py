"""What a shadow run compares: sentences and lines that are kept, as far as the person who asks may see them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import select
from sqlmodel import Session, col

from storage.tables import Call, Sentence, Turn
from storage.viewer import Viewer


@dataclass(frozen=True, slots=True)
class KeptLine:
    text: str
    role: str = ""
    before: str | None = None
    """The sentence before it in its call."""


def kept_sentences(session: Session, viewer: Viewer, since: float, most: int) -> Iterator[KeptLine]:
    """The newest sentences that the viewer may see, call by call."""
    newest = select(*map(col, (Sentence.call, Sentence.role, Sentence.text, Sentence.start_ms, Sentence.language)))
    newest = newest.join(Call, col(Call.id) == col(Sentence.call)).where(viewer.clause())
    newest = newest.where(col(Sentence.spoken_at) >= since).order_by(col(Sentence.spoken_at).desc()).limit(most)
    rows = sorted(session.execute(newest), key=lambda row: (row.call, row.start_ms))
    call, before = "", None
    for row in rows:
        if row.call != call:
            call, before = row.call, None
        if row.language == "en" and row.text.strip():
            yield KeptLine(row.text, row.role, before)
        before = row.text


def kept_lines(session: Session, viewer: Viewer, since: float, most: int) -> Iterator[KeptLine]:
    """The newest lines of shoppers to the assistant that the viewer may see."""
    found = select(col(Turn.input)).join(Call, col(Call.id) == col(Turn.call)).where(viewer.clause())
    found = found.where(col(Turn.at) >= since, col(Turn.input) != "").order_by(col(Turn.at).desc()).limit(most)
    for text in session.scalars(found):
        yield KeptLine(text)
