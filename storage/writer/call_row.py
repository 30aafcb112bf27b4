"""How a call's row follows its events: states only go forward, metrics only get newer."""

from __future__ import annotations

from typing import Any

import msgspec

from tenor.assistant.handover import AGENT, followed, read_handover
from tenor.events import (
    CallGivenBack,
    CallMetrics,
    CallState,
    CallTakenOver,
    Sentence,
    SummaryMended,
    Turn,
    WrapUp,
    WrittenSummary,
    says_audio_stopped,
)

RANK = {"ringing": 0, "live": 1, "ended": 2, "analysed": 3, "failed": 4}
"""A call never goes back in this order, but to live: after its audio had stopped, or a failed one is heard anew."""
GOING_ON = ("ringing", "live")
CLOCKS_DIFFER_S = 60.0
"""A call may be understood on several machines, one after the other."""


def advance(call: dict[str, Any], event: CallState) -> dict[str, Any]:
    """What a state changes in the row; nothing when it has been seen before."""
    changes: dict[str, Any] = {}
    goes_on = _goes_on(call, event)
    if goes_on:
        changes = {"state": event.state, "state_at": event.at, "reason": event.reason or call["reason"]}
        if event.state in ("ended", "failed"):
            changes["ended_at"] = event.at
        elif event.state == "live":
            changes |= {"ended_at": None, "reason": event.reason}
    if event.info is not None and (goes_on or call["state"] in GOING_ON):  # else what is kept was made otherwise
        info = event.info
        changes |= {
            "medium": info.medium,
            "source": info.source,
            "site": info.site,
            "queue": info.queue,
            "agent": info.agent or call["agent"],  # a person may have taken it meanwhile
            "customer": info.customer,
            "language": info.language,
            "roles": [*info.roles, *call["roles"][len(info.roles) :]],
            "started_at": info.started_at,
            "redact": info.redact or "",
            "attributes": info.attributes,
            "sample": info.attributes.get("sample") == "yes",
        }
    return changes


def is_heard_anew(call: dict[str, Any], event: Sentence) -> bool:
    """Whether it was said after all was said: a call that is over keeps its words, for those of another hearing may be
    redacted otherwise. One that is read late was said before."""
    over = call["state"] == "analysed" and not says_audio_stopped(call["reason"])
    return bool(over and max(event.times.values(), default=0.0) > call["state_at"] + CLOCKS_DIFFER_S)


def measure(call: dict[str, Any], event: CallMetrics) -> dict[str, Any]:
    """What new metrics change in the row; nothing when newer ones are there."""
    if event.at_ms < call["metrics_ms"]:
        return {}
    task = {"task": event.task, "task_score": event.task_score} if event.task else {}
    card = {"scorecard": msgspec.to_builtins(event.scorecard)} if event.final else {}
    summary = {"summary": msgspec.to_builtins(event.summary)} if event.summary is not None else {}
    return {"metrics": event.values, "metrics_ms": event.at_ms, **task, **summary, **card}


def written(call: dict[str, Any], event: WrittenSummary) -> dict[str, Any]:
    """What a language model's summary changes in the row; nothing when there is one of more of the call."""
    if event.at_ms < call["written_summary"].get("at_ms", 0):
        return {}
    return {"written_summary": {"text": event.text, "model": event.model, "at": event.at, "at_ms": event.at_ms}}


def mend(call: dict[str, Any], event: SummaryMended) -> dict[str, Any]:
    """What a person who puts a point of the summary right changes in the row: nothing when a newer word is there."""
    before = call["mended"].get(event.point)
    if before is not None and before["at"] >= event.at:
        return {}
    said = {"text": event.text, "by": event.author, "at": event.at, "withdrawn": event.withdrawn}
    return {"mended": {**call["mended"], event.point: said}}


def wrap_up(call: dict[str, Any], event: WrapUp) -> dict[str, Any]:
    """Read in their order, so the newest stays."""
    return {"wrap_up": event.code}


def hand_over(call: dict[str, Any], event: Turn | CallTakenOver | CallGivenBack) -> dict[str, Any]:
    """What a turn, or a person who takes or gives back the conversation, changes in the row."""
    before = read_handover(call["handover"])
    after = followed(before, event)
    if after == before:
        return {}
    changes: dict[str, Any] = {"handover": msgspec.to_builtins(after), "waiting": after.open}
    if after.state == "taken":
        changes["agent"] = after.agent or call["agent"]
        changes["roles"] = call["roles"] if AGENT in call["roles"] else [*call["roles"], AGENT]
    return changes


def _goes_on(call: dict[str, Any], event: CallState) -> bool:
    if RANK[event.state] > RANK.get(call["state"], 0):
        return True
    if call["state"] == "ringing" and not call["source"]:
        return True  # nothing but a sentence had been known of it
    may_go_on = call["state"] == "failed" or (
        call["state"] in ("ended", "analysed") and says_audio_stopped(call["reason"])
    )
    return may_go_on and event.state == "live" and event.at > call["state_at"]
