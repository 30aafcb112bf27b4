"""What a person says of a call's scorecard: whether each point was met.

What rules and intents filled in stays as it was, and what a person said before, too; the newest word of a point counts.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from sqlmodel import Session

from storage.db.engine import Database
from storage.privacy import tombstones
from storage.queries import calls
from storage.tables import Audit, Call, Score
from storage.viewer import Role, Viewer
from tenor.errors import BadInput, Refused
from tenor.yaml.nodes import meant

CONFIRMS: tuple[Role, ...] = ("manager", "administrator")
VALUES = ("yes", "no", "not_due")
OVER = ("ended", "analysed", "failed")


def confirm(session: Session, viewer: Viewer, call_id: str, values: Mapping[str, str]) -> list[Score]:
    """Keep what `viewer` says of these points. Nobody confirms the card of a call of their own."""
    if viewer.role not in CONFIRMS:
        raise Refused(f"your role, {viewer.role}, does not confirm scorecards")
    tombstones.hold_off(session)
    call = calls.find(session, viewer, call_id)
    if call is None or tombstones.is_erased(session, call_id):
        raise BadInput(f"there is no call {call_id!r}")
    if call.state not in OVER:
        raise BadInput("this call is not over yet: its scorecard is filled at its end")
    if viewer.name and call.agent == viewer.name:
        raise Refused("this is a call of your own: somebody else confirms its scorecard")
    points = {point["point"]: point for point in call.scorecard}
    if not values:
        raise BadInput("no point was named", f"its scorecard has {', '.join(points) or 'none'}")
    for name, value in values.items():
        if name not in points:
            raise BadInput(f"the scorecard of this call has no point {name!r}{meant(name, points)}")
        if value not in VALUES:
            raise BadInput(f"{value!r} is no answer", f"one of {', '.join(VALUES)}")
    at = time.time()
    made = [
        Score(
            call=call.id,
            point=name,
            asks=points[name]["asks"],
            value=value,
            proposed=points[name]["value"],
            author=viewer.name,
            author_role=viewer.role,
            at=at,
            sample=call.sample,
        )
        for name, value in values.items()
    ]
    session.add_all(made)
    session.add(Audit(at=at, who=viewer.name, action="scorecard.confirmed", subject=call.id, detail=dict(values)))
    session.flush()
    return made


def scored(database: Database, viewer: Viewer, call_id: str, values: Mapping[str, str]) -> list[dict[str, Any]]:
    """Confirm, and see the card as it stands then."""
    with database.begin() as session:
        confirm(session, viewer, call_id, values)
        whole = calls.whole(session, viewer, call_id)
        return card_of(whole.call, whole.scores) if whole else []


def card_of(call: Call, scores: Iterable[Score]) -> list[dict[str, Any]]:
    """The card as it stands: each point as it was filled in, with what a person says of it under `confirmed`."""
    said = {score.point: score for score in sorted(scores, key=lambda score: (score.at, score.id or 0))}
    card = [dict(point) for point in call.scorecard]
    known = {point["point"] for point in card}
    # Filled in anew with another form, it keeps what people said of the points that form had.
    card += [
        {"point": one.point, "asks": one.asks, "value": one.proposed, "sentence": "", "at_ms": 0}
        for one in said.values()
        if one.point not in known
    ]
    return [{**point, "confirmed": _confirmed(said.get(point["point"]))} for point in card]


def _confirmed(score: Score | None) -> dict[str, Any] | None:
    return {"value": score.value, "author": score.author, "at": score.at} if score else None
