"""Authors whose labels wait for a person: they count nowhere until somebody releases them.

Held by the check (checks.py) or by a person; what is labelled while a hold lasts is held too. A release is a decision:
the check then goes by what the author says afterwards.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from sqlalchemy import func, select, update
from sqlmodel import Session, col

from storage.tables import Audit, Label, LabelHold
from storage.viewer import Role, Viewer
from tenor.errors import BadInput, Refused

HELD_KINDS = ("sentiment", "intent", "slots")
"""What models learn from. A corrected text or speaker is for the page of the call."""
DECIDES: tuple[Role, ...] = ("administrator",)
"""Who may hold and release labels; nobody decides about their own."""


def is_held(session: Session, author: str) -> bool:
    found = select(col(LabelHold.id)).where(col(LabelHold.author) == author, col(LabelHold.ended_at).is_(None))
    return session.scalars(found.limit(1)).first() is not None


def holds(session: Session, *, ended: bool = False) -> Sequence[LabelHold]:
    """Those that last, the newest first; with `ended` all that ever were."""
    found = select(LabelHold).order_by(col(LabelHold.at).desc(), col(LabelHold.id).desc())
    return session.scalars(found if ended else found.where(col(LabelHold.ended_at).is_(None))).all()


def released_at(session: Session) -> dict[str, float]:
    """When somebody last decided that an author's labels count."""
    found = select(col(LabelHold.author), func.max(col(LabelHold.ended_at))).group_by(col(LabelHold.author))
    return {author: at for author, at in session.execute(found) if at is not None}


def hold(session: Session, author: str, reason: str, by: Viewer | None = None) -> int:
    """Hold an author's labels; how many there are. `by`: None when the check does it. Held already: nothing changes."""
    _may_decide(author, by)
    if is_held(session, author):
        return 0
    known = session.scalars(select(col(Label.id)).where(col(Label.author) == author).limit(1)).first()
    if known is None:
        raise BadInput(f"nobody called {author!r} has made a label", "`tenor labels authors` lists who has")
    now, who = time.time(), by.name if by else ""
    session.add(LabelHold(author=author, reason=reason, at=now, by=who))
    number = _set(session, author, held=True)
    session.add(Audit(at=now, who=who, action="labels.held", subject=author, detail={"labels": number}))
    session.flush()
    return number


def release(session: Session, author: str, by: Viewer) -> int:
    """Let an author's labels count again; how many there are."""
    _may_decide(author, by)
    if not is_held(session, author):
        raise BadInput(f"no labels of {author!r} are held", "`tenor labels authors` lists whose are")
    now = time.time()
    open_ones = update(LabelHold).where(col(LabelHold.author) == author, col(LabelHold.ended_at).is_(None))
    session.execute(open_ones.values(ended_at=now, ended_by=by.name))
    number = _set(session, author, held=False)
    session.add(Audit(at=now, who=by.name, action="labels.released", subject=author, detail={"labels": number}))
    session.flush()
    return number


def _set(session: Session, author: str, *, held: bool) -> int:
    those = (col(Label.author) == author, col(Label.kind).in_(HELD_KINDS), col(Label.held) != held)
    number = session.scalar(select(func.count()).select_from(Label).where(*those)) or 0
    session.execute(update(Label).where(*those).values(held=held))
    return number


def _may_decide(author: str, by: Viewer | None) -> None:
    if by is None:
        return
    if by.role not in DECIDES:
        raise Refused(f"your role, {by.role}, does not decide about labels")
    if by.name == author:
        raise Refused("nobody decides about their own labels")
