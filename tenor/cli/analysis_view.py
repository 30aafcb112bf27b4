"""What `tenor analyze` shows of a call: a conversation with marks."""

from __future__ import annotations

from rich.markup import escape
from rich.text import Text

from tenor.cli.output import clock, complain_of_file, console, warn
from tenor.events import Sentence
from tenor.runtime import CallResult
from tenor.taxonomy.polarity import feeling

STYLES = {"negative": "#D55E00", "neutral": "dim", "positive": "#0072B2"}
MARKS = {"negative": "-", "neutral": "\u00b7", "positive": "+"}
"""Colour is never the only sign."""


def show(result: CallResult, *, heading: bool) -> None:
    """A readable conversation; colours only on a terminal."""
    if heading:
        console.print(f"[bold]{escape(result.file)}[/]", soft_wrap=True)
    for warning in result.notices():
        warn(f"{result.file}: {warning}")
    for sentence in result.sentences:
        console.print(_line(sentence), soft_wrap=True)
    if result.error:
        complain_of_file(result.file, result.error)
    elif not result.sentences:
        console.print("[dim](nothing was said)[/]")
    _summary(result)
    if result.stored and not result.error:
        console.print(f"         [dim]kept as call {escape(result.call)}[/]", soft_wrap=True)


def _line(sentence: Sentence) -> Text:
    felt = sentence.sentiment if sentence.sentiment in MARKS else feeling(sentence.mood)
    style = STYLES.get(felt, "")
    wanted = "" if sentence.intent in ("unknown", "") else f"  {sentence.intent}"
    values = "".join(f"  {name}={value}" for name, value in sentence.slots.items())
    return Text.assemble(
        (f"{clock(sentence.start_ms):>7}  ", "dim"),
        (f"{MARKS[felt]} ", f"bold {style}"),
        (f"{sentence.role:6}  ", "cyan"),
        (sentence.text, "" if felt == "neutral" else style),
        (wanted, "green dim"),
        (values, "dim"),
    )


def _summary(result: CallResult) -> None:
    metrics = result.metrics
    if metrics is None or not result.sentences:
        return
    parts = [f"task {metrics.task or 'unknown'}"]
    roles = result.info.roles if result.info else ()
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
    for point in metrics.summary.points if metrics.summary is not None else ():
        about = " ".join(filter(None, (point.by, f"until {point.until}" if point.until else "")))
        marks = ((f"{clock(point.at_ms):>7}  ", "dim"), ("= ", "green"))
        line = Text.assemble(
            *marks, f"{point.name or point.kind}: {point.text}", (f"  {about}" if about else "", "dim")
        )
        console.print(line, soft_wrap=True)
    for alert in result.alerts:
        colour = {"critical": "red", "warning": "yellow"}.get(alert.severity, "blue")
        mark = "escalate" if alert.escalation else alert.severity
        line = Text.assemble((f"{clock(alert.at_ms):>7}  ", "dim"), (f"! {mark}: ", colour), alert.text)
        console.print(line, soft_wrap=True)
