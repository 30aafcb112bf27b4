"""Scorecards that were filled in afterwards, with another form, in place of what was proposed before."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import msgspec
from sqlmodel import Session

from storage.tables import Audit, Call
from tenor.events import ScorePoint

Cards = Mapping[str, Sequence[ScorePoint]]
"""By call."""


def keep(session: Session, cards: Cards, who: str, form: str) -> int:
    """Propose these. What people said stays. How many calls have another card now."""
    changed = 0
    for call_id, card in cards.items():
        call = session.get(Call, call_id)
        filled = msgspec.to_builtins(card)
        if call is not None and call.scorecard != filled:
            call.scorecard = filled
            changed += 1
    detail = {"form": form, "calls": len(cards), "changed": changed}
    session.add(Audit(at=time.time(), who=who, action="scorecards.replayed", detail=detail))
    return changed
