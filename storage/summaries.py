"""The summary of a call as people left it: what the language stage said, with what was put right in it.

A person's word is kept beside the stage's (`calls.mended`), so that a call that is understood again keeps it, and so
that points that come later in a live call are still added.
"""

from __future__ import annotations

from typing import Any

from storage.tables import Call

OUTCOME = "outcome"
"""The name under which an outcome is put right."""
OUTCOMES = {
    "done": "done",
    "promised": "promised",
    "unconfirmed": "nobody said that it was done",
    "open": "open",
}
"""What there is, and how it is told."""


def left(call: Call) -> dict[str, Any]:
    """Headline, outcome and points; a point that a person changed says who (`mended_by`), one that is wrong is gone."""
    summary, mended = call.summary, {key: one for key, one in call.mended.items() if not one["withdrawn"]}
    points = []
    for point in summary.get("points", ()):
        said = mended.get(point["id"])
        if said is None:
            points.append({**point, "mended_by": ""})
        elif said["text"]:
            points.append({**point, "text": said["text"], "mended_by": said["by"]})
    outcome = mended[OUTCOME]["text"] if OUTCOME in mended else summary.get("outcome", "")
    return {"headline": summary.get("headline", ""), "outcome": outcome, "points": points}


def told(point: dict[str, Any]) -> str:
    """A point as a line of text."""
    about = " ".join(filter(None, (point.get("by", ""), f"until {point['until']}" if point.get("until") else "")))
    name = point.get("name") or point["kind"]
    return f"{name}{f' ({about})' if about else ''}: {' '.join(point['text'].split())}"


def in_a_line(call: Call) -> str:
    """Headline and outcome, for lists and tables."""
    found = left(call)
    outcome = OUTCOMES.get(found["outcome"], "")
    return " ".join(filter(None, (found["headline"], f"({outcome})" if outcome else "")))
