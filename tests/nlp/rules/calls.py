"""Short calls for rules to watch."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

from nlp.rules import RuleSet, read
from tenor.events import Alert, Call, CallMetrics, Sentence

CALL = "call-1"
STARTED = 1_760_000_000.0


def rules(folder: Path, text: str) -> RuleSet:
    path = folder / "rules.yaml"
    path.write_text(dedent(text), "utf-8")
    return read(path)


def info(**known: Any) -> Call:
    return Call(**{"source": "file", "roles": ("caller", "agent"), "started_at": STARTED, **known})


def said(text: str, at_s: float = 0.0, role: str = "caller", *, lasts_s: float = 2.0, **known: Any) -> Sentence:
    start_ms = round(at_s * 1000)
    channel = 0 if role == "caller" else 1
    usual = {
        "sentence": f"{CALL}/{channel}/{start_ms}",
        "revision": 0,
        "sentiment": "neutral",
        "intent": "unknown",
        "intent_score": 0.9,
        "end_ms": start_ms + round(lasts_s * 1000),
    }
    fields = {**usual, **known}
    fields.setdefault("sentiment_scores", {fields["sentiment"]: 0.9})
    return Sentence(call=CALL, channel=channel, role=role, start_ms=start_ms, text=text, **fields)


def metrics(at_s: float, **values: Any) -> CallMetrics:
    fields = {name: values.pop(name) for name in ("task", "task_score", "final") if name in values}
    return CallMetrics(
        call=CALL,
        at_ms=round(at_s * 1000),
        values={name.replace("__", "."): value for name, value in values.items()},
        **fields,
    )


def fired(alerts: list[Alert]) -> list[tuple[str, int]]:
    return [(alert.rule, alert.at_ms) for alert in alerts]
