"""Compares an expectation with what happened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from dialog.engine.session import Session
from dialog.exchange import shown
from dialog.testing.conversation import Expectation, ExpectedCall, Words
from dialog.testing.outcome import CallRecord, Mismatch, Window
from tenor.taxonomy.assistant import routed_intent

NOTHING: Final = "nothing"


def mismatches(expected: Expectation, window: Window, session: Session) -> Iterator[Mismatch]:
    """Every part of the expectation that does not hold."""

    def differs(key: str, got: str) -> Mismatch:
        return Mismatch(expected.where, f"{key}: {expected.written.get(key, '')}", f"{key}: {got}")

    at = None if expected.at_ms is None else window.began_ms + expected.at_ms
    replies = [one for one in window.replies if at in (None, one.ms)]
    calls = [one for one in window.calls if at in (None, one.ms)]
    failures = [one for one in window.failures if at in (None, one.ms)]
    when = "" if at is None else f" at {seconds(expected.at_ms or 0)}"

    said = " ".join(one.text for one in replies)
    if expected.reply is not None:
        texts = [one.text for one in replies]
        if (not expected.reply and texts) or not all(_said(words, texts, said) for words in expected.reply):
            yield differs("reply", f"{_replies(window, at)}{when}")
    if any(_said(words, [one.text for one in replies], said) for words in expected.reply_not):
        yield differs("reply_not", _replies(window, at))
    if expected.asks is not None and expected.asks != (asked := question_of(session)):
        yield differs("asks", asked)
    if expected.calls is not None and not _called(expected.calls, calls):
        yield differs("calls", (", ".join(told_call(one) for one in calls) or "none") + when)
    if expected.slots:
        held = slots_of(session)
        wrong = [name for name, value in expected.slots.items() if not same(value, held.get(name))]
        if wrong:
            yield differs("slots", ", ".join(f"{name}: {held.get(name, 'none')}" for name in wrong))
    if expected.intent is not None and expected.intent != routed_intent(session.intent):
        yield differs("intent", session.intent or "none")
    if expected.state is not None and expected.state != session.state:
        yield differs("state", session.state)
    if expected.ended is not None and expected.ended != session.ended:
        yield differs("ended", "yes" if session.ended else "no")
    if expected.fails is not None and expected.fails not in [one.action for one in failures]:
        told = [f"{one.action} at {seconds(one.ms - window.began_ms)}" for one in window.failures]
        yield differs("fails", ", ".join(told) or NOTHING)
    if expected.handover is not None and expected.handover != window.handed_over:
        yield differs("handover", "yes" if window.handed_over else "no")


def question_of(session: Session) -> str:
    """What the assistant waits to be told: a slot, or `confirm`, `person`, `resume`, `intent`."""
    pending = session.pending
    if pending is None:
        return "none"
    return pending.slot if pending.kind in ("slot", "input", "choice") else pending.kind


def slots_of(session: Session) -> dict[str, Any]:
    slots = session.task.slots if session.task is not None else {}
    return shown({name: held.value for name, held in slots.items()})


def same(expected: Any, got: Any) -> bool:
    """Whether a value is the one that was written: `Tucson`, `/jeans/`, `{from: 2026-11-19}`, `none`."""
    if expected is None:
        return got is None
    if isinstance(expected, Mapping):
        return isinstance(got, Mapping) and all(same(value, got.get(name)) for name, value in expected.items())
    assert isinstance(expected, Words)
    if isinstance(got, Mapping):  # a time by its words or its day, an amount by its number
        return any(expected.found_in(_text(one)) for one in got.values())
    return got is not None and (expected.found_in(_text(got)) or expected.written.lower() == _text(got).lower())


def told_call(call: CallRecord) -> str:
    arguments = ", ".join(f"{name}: {_told(value)}" for name, value in call.arguments.items())
    return f"{call.action} {{{arguments}}}" if arguments else call.action


def seconds(ms: int) -> str:
    return f"{ms / 1000:g} s"


def _said(words: Words, texts: Sequence[str], joined: str) -> bool:
    """A pattern may go over several replies; a text is one of them, or all together."""
    return words.found_in(joined) or any(words.found_in(text) for text in texts)


def _called(expected: Sequence[ExpectedCall], calls: Sequence[CallRecord]) -> bool:
    return len(expected) == len(calls) and all(
        one.action == call.action
        and all(same(value, call.arguments.get(name)) for name, value in one.arguments.items())
        for one, call in zip(expected, calls, strict=True)
    )


def _replies(window: Window, at: int | None) -> str:
    if at is None:
        return " / ".join(one.text for one in window.replies) or NOTHING
    return " / ".join(f"{one.text} ({seconds(one.ms - window.began_ms)})" for one in window.replies) or NOTHING


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)


def _told(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{name}: {_text(one)}' for name, one in value.items())}}}"
    return _text(value)
