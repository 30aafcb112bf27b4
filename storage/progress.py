"""How a call's row follows its events: states only go forward, figures only get newer."""

from __future__ import annotations

from typing import Any

from tenor.events import AUDIO_STOPPED, CallMetrics, CallState

RANK = {"ringing": 0, "live": 1, "ended": 2, "analysed": 3, "failed": 4}
"""A call never goes back in this order, but from AUDIO_STOPPED."""


def advance(call: dict[str, Any], event: CallState) -> dict[str, Any]:
    """What a state changes in the row; nothing when it has been seen before."""
    changes: dict[str, Any] = {}
    if _goes_on(call, event):
        changes = {"state": event.state, "state_at": event.at, "reason": event.reason or call["reason"]}
        if event.state in ("ended", "failed"):
            changes["ended_at"] = event.at
        elif event.state == "live":
            changes |= {"ended_at": None, "reason": event.reason}
    if event.info is not None:
        info = event.info
        changes |= {
            "medium": info.medium,
            "source": info.source,
            "site": info.site,
            "queue": info.queue,
            "agent": info.agent,
            "customer": info.customer,
            "language": info.language,
            "roles": list(info.roles),
            "started_at": info.started_at,
            "redact": info.redact or "",
            "attributes": info.attributes,
            "sample": info.attributes.get("sample") == "yes",
        }
    return changes


def measure(call: dict[str, Any], event: CallMetrics) -> dict[str, Any]:
    """What new figures change in the row; nothing when newer ones are there."""
    if event.at_ms < call["metrics_ms"]:
        return {}
    task = {"task": event.task, "task_score": event.task_score} if event.task else {}
    return {"metrics": event.values, "metrics_ms": event.at_ms, **task}


def _goes_on(call: dict[str, Any], event: CallState) -> bool:
    if RANK[event.state] > RANK.get(call["state"], 0):
        return True
    if call["state"] == "ringing" and not call["source"]:
        return True  # nothing but a sentence had been known of it
    over = call["state"] in ("ended", "analysed") and call["reason"] == AUDIO_STOPPED
    return over and event.state == "live" and event.at > call["state_at"]
