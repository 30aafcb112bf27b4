"""What `tenor analyze` says of a call: a JSON document for programs, a conversation with marks for people."""

from __future__ import annotations

from typing import Any

import msgspec
from rich.markup import escape
from rich.text import Text

from dashboard.feeling import feeling
from tenor.cli.batch import Outcome
from tenor.cli.output import clock, complain, console, warn
from tenor.events import Sentence

STYLES = {"negative": "#D55E00", "neutral": "dim", "positive": "#0072B2"}
MARKS = {"negative": "-", "neutral": "\u00b7", "positive": "+"}
"""Colour is never the only sign."""
OF_SENTENCE = (
    *("channel", "role", "start_ms", "end_ms", "text", "sentiment", "sentiment_scores", "intent", "intent_score"),
    "slots",
)
OF_ALERT = ("rule", "severity", "text", "at_ms", "escalation", "sentence")


def document(outcome: Outcome) -> dict[str, Any]:
    """What `--json` prints: call, sentences, metrics, alerts."""
    info = msgspec.to_builtins(outcome.info) if outcome.info else {}
    call = {
        "id": outcome.call,
        "file": outcome.file,
        "state": "failed" if outcome.error else "analysed",
        "reason": outcome.error,
        "duration_ms": outcome.duration_ms,
        "task": outcome.metrics.task if outcome.metrics else "",
        "task_score": outcome.metrics.task_score if outcome.metrics else 0.0,
        "warnings": [*outcome.warnings, *_foreign(outcome)],
        **info,
    }
    return {
        "call": call,
        "sentences": [_sentence(said) for said in outcome.said if isinstance(said, Sentence)],
        "metrics": outcome.metrics.values if outcome.metrics else {},
        "alerts": [{key: getattr(alert, key) for key in OF_ALERT} for alert in outcome.alerts],
    }


def _sentence(said: Sentence) -> dict[str, Any]:
    told = {key: getattr(said, key) for key in OF_SENTENCE}
    if said.labels:
        told["labels"] = said.labels
    return told if said.language == "en" else {**told, "language": said.language}


def _foreign(outcome: Outcome) -> list[str]:
    """Said, not guessed."""
    count = sum(isinstance(said, Sentence) and said.language == "other" for said in outcome.said)
    if not count:
        return []
    sentences, them = ("1 sentence is", "it") if count == 1 else (f"{count} sentences are", "them")
    return [f"{sentences} in a language the models do not know; nothing was told of {them}"]


def show(outcome: Outcome, *, heading: bool) -> None:
    """A readable conversation; colours only on a terminal."""
    if heading:
        console.print(f"[bold]{escape(outcome.file)}[/]", soft_wrap=True)
    for warning in [*outcome.warnings, *_foreign(outcome)]:
        warn(f"{outcome.file}: {warning}")
    for said in outcome.said:
        if isinstance(said, Sentence):
            console.print(_line(said), soft_wrap=True)
    if outcome.error:
        named_already = outcome.file in outcome.error
        complain(outcome.error if named_already else f"{outcome.file}: {outcome.error}", outcome.hint)
    elif not outcome.said:
        console.print("[dim](nothing was said)[/]")
    _summary(outcome)
    if outcome.stored and not outcome.error:
        console.print(f"         [dim]kept as call {escape(outcome.call)}[/]", soft_wrap=True)


def _line(said: Sentence) -> Text:
    felt = said.sentiment if said.sentiment in MARKS else feeling(said.mood)
    style = STYLES.get(felt, "")
    wanted = "" if said.intent in ("unknown", "") else f"  {said.intent}"
    values = "".join(f"  {name}={value}" for name, value in said.slots.items())
    return Text.assemble(
        (f"{clock(said.start_ms):>7}  ", "dim"),
        (f"{MARKS[felt]} ", f"bold {style}"),
        (f"{said.role:6}  ", "cyan"),
        (said.text, "" if felt == "neutral" else style),
        (wanted, "green dim"),
        (values, "dim"),
    )


def _summary(outcome: Outcome) -> None:
    metrics = outcome.metrics
    if metrics is None or not outcome.said:
        return
    parts = [f"task {metrics.task or 'unknown'}"]
    roles = outcome.info.roles if outcome.info else ()
    for role in roles:
        mood = metrics.values.get(f"mood.{role}")
        share = metrics.values.get(f"talk_share.{role}")
        words = metrics.values.get(f"words.{role}")
        told = [
            "" if mood is None else f"mood {mood:+.2f}",
            "" if share is None else f"speaks {share:.0%}",
            "" if words is None else f"{words:.0f} word{'' if words == 1 else 's'}",
        ]
        if any(told):
            parts.append(f"{role}: {', '.join(part for part in told if part)}")
    if (silence := metrics.values.get("silence_share")) is not None:
        parts.append(f"silence {silence:.0%}")
    console.print(f"         [dim]{escape('; '.join(parts))}[/]", soft_wrap=True)
    for alert in outcome.alerts:
        colour = {"critical": "red", "warning": "yellow"}.get(alert.severity, "blue")
        mark = "escalate" if alert.escalation else alert.severity
        line = Text.assemble((f"{clock(alert.at_ms):>7}  ", "dim"), (f"! {mark}: ", colour), alert.text)
        console.print(line, soft_wrap=True)
