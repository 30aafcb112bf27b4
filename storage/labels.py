"""What people say of a sentence: the sentiment, intent, text or speaker it should have had.

A label says who and when and never overwrites: neither the models' answer nor an earlier label.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping

from sqlalchemy import select
from sqlmodel import Session, col

from storage.sides import side
from storage.tables import Audit, Call, Label, Sentence
from storage.viewer import Viewer
from tenor.errors import BadInput

KINDS = ("sentiment", "intent", "text", "role")
LONGEST = {"text": 10_000}
"""Characters of a value; 100 for the others."""


def label(
    session: Session,
    viewer: Viewer,
    sentence_id: str,
    kind: str,
    value: str,
    seconds: float | None = None,
    where: str = "call",
    known: Mapping[str, Collection[str]] | None = None,
) -> Label:
    """Keep what `viewer` says of a sentence; `seconds`: how long they looked, `where`: the page they were on, `known`:
    the sentiments and intents there are, by kind."""
    value = value.strip()
    if kind not in KINDS:
        raise BadInput(f"a sentence has no {kind!r} to label", f"one of {', '.join(KINDS)}")
    if not value or len(value) > LONGEST.get(kind, 100) or "\x00" in value:
        raise BadInput(f"{value[:50]!r} cannot be the {kind} of a sentence")
    names = (known or {}).get(kind)
    if names and value not in names:
        raise BadInput(f"there is no {kind} {value[:50]!r} here", f"one of {', '.join(names)}")
    of_viewer = select(Sentence, Call).join(Call, col(Call.id) == col(Sentence.call)).where(viewer.clause())
    found = session.execute(of_viewer.where(col(Sentence.id) == sentence_id)).one_or_none()
    if found is None:
        raise BadInput(f"there is no sentence {sentence_id!r}")
    sentence, call = found
    if kind == "role" and value not in {"caller", "agent", *call.roles}:
        raise BadInput(f"nobody on this call is {value!r}", f"one of {', '.join(call.roles)}")
    predicted = side(sentence.role, call.swapped) if kind == "role" else getattr(sentence, kind)
    now = time.time()
    made = Label(
        sentence=sentence.id,
        call=call.id,
        kind=kind,
        value=value,
        predicted=predicted,
        author=viewer.name,
        at=now,
        seconds=seconds,
        where=where,
        sample=call.sample,
    )
    session.add(made)
    session.add(Audit(at=now, who=viewer.name, action="label.made", subject=call.id, detail={"kind": kind}))
    session.flush()
    return made


def newest(labels: Iterable[Label], agent: str = "") -> dict[str, Label]:
    """Of a sentence's labels, what counts now: the last of each kind. What `agent`, who took the call, says
    of it counts only where nobody else said anything."""
    return {one.kind: one for one in sorted(labels, key=lambda one: (one.author != agent, one.at, one.id or 0))}
