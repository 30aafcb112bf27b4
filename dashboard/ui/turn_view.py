"""One turn of a conversation with the assistant as HTML: what was said, what was known, what was done, and why."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from dashboard.ui import formatting, tables
from storage.tables import Turn

EVENTS = {
    "start": "The conversation began",
    "heard": "The shopper said",
    "key": "The shopper pressed a key",
    "silence": "Nothing was said",
    "taken_over": "A person took the conversation",
    "given_back": "A person gave the conversation back",
    "nobody_came": "No person came",
    "escalated": "An alert called for a person",
}
ORIGINS = {"said": "said", "answered": "the answer to a question", "reused": "remembered", "flow": "set by the flow"}
QUESTIONS = {
    "slot": "a value is asked for",
    "confirm": "a yes or no is asked for",
    "choice": "a choice is offered",
    "input": "an answer in the shopper's own words is asked for",
    "person": "a person is offered",
    "resume": "whether to go on",
    "intent": "which of several wishes was meant",
}
OWN = "tenor"
"""Source of actions that the stage carries out itself; they take no time."""
LONGEST = 6000
"""Letters of a result that are shown; all of it is in `tenor export`."""


def spoken(turn: Turn) -> str:
    """What was said, what was understood, and the replies."""
    score = f" <small>{formatting.share(turn.intent_score)}</small>" if turn.intent_score else ""
    rows = [
        _line("Said", f'<span class="said">{tagged_html(turn.input, turn.tags)}</span>') if turn.input else "",
        _line("Intent", f"<b>{escape(turn.intent)}</b>{score}") if turn.intent else "",
        _line("Mood", tables.mood_html(turn.mood)) if turn.mood is not None else "",
        _line("Heard", f"of the replies before: “{escape(turn.heard)}”") if turn.heard else "",
        _line("Replies", "".join(_reply(_mapping(one)) for one in turn.replies) or "nothing was said"),
        _line("Person", _handover(turn.handover)) if turn.handover else "",
    ]
    took = f"{turn.latency_ms:.0f} ms" if turn.latency_ms is not None else ""
    ended = "the conversation ended" if turn.ended else ""
    about = (EVENTS.get(turn.event, turn.event), formatting.moment(turn.at), took, ended, f"flows {turn.flow}")
    return _card(f'<div class="head">{escape(" · ".join(filter(None, about)))}</div>', *rows)


def path(turn: Turn) -> str:
    """The states that were passed, in order, and where the conversation stands."""
    steps = [*turn.states, *([turn.state] if turn.state not in turn.states[-1:] else [])]
    last = len(steps) - 1
    marks = [
        f'<b class="{"stands" if number == last else ""}">{escape(str(state))}</b>'
        for number, state in enumerate(steps)
    ]
    return _card(f'<div class="path">{"<s>→</s>".join(marks)}</div>')


def slots(turn: Turn) -> str:
    """What is known, and where it came from."""
    held = _mapping(_mapping(turn.session.get("task")).get("slots"))
    names = [*turn.slots, *(name for name in held if name not in turn.slots)]
    if not names:
        return _card("<p>Nothing is known yet.</p>")
    rows = "".join(_slot(name, turn.slots.get(name), _mapping(held.get(name)), turn.turn) for name in names)
    head = "".join(f"<th>{title}</th>" for title in ("Slot", "Value", "Where from", "Words", "Score", "Kept for"))
    return _card(f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>")


def waiting(turn: Turn) -> str:
    """The open question, the tasks that wait under it, and wishes that were not begun."""
    session = turn.session
    rows = [_line("Question", text) for text in _questions(session.get("pending"))]
    for task in map(_mapping, reversed(_list(session.get("stack")))):
        wish = escape(str(_mapping(task.get("frame")).get("intent") or "a task"))
        open_question = "; ".join(_questions(task.get("pending")))
        rows.append(_line("Waits", f"<b>{wish}</b>" + (f": {open_question}" if open_question else "")))
    wishes = map(_mapping, _list(session.get("wishes")))
    rows += [_line("Later", f"<b>{escape(str(wish.get('intent', '')))}</b>") for wish in wishes]
    rows += [_line("Goes back", escape(str(state))) for state in reversed(_list(session.get("returns")))]
    return _card(*(rows or ["<p>No question is open, and no task waits.</p>"]))


def actions(turn: Turn) -> str:
    """Each with its arguments, result and time, and who answered."""
    return _card(*(_action(_mapping(one)) for one in turn.actions)) if turn.actions else _card("<p>None.</p>")


def reasons(turn: Turn) -> str:
    """The rules that the dialog manager went by, in order."""
    pairs = [entry for entry in turn.trace if isinstance(entry, list | tuple) and len(entry) == 2]
    rules = "".join(
        f"<li><b>{escape(str(rule))}</b> <small>{escape(str(detail))}</small></li>" for rule, detail in pairs
    )
    return _card(f"<ol>{rules}</ol>" if rules else "<p>Nothing was noted.</p>")


def lines(turn: Turn) -> Iterator[tuple[str, str]]:
    """What was said in a turn: who, and the words."""
    if turn.input:
        yield "shopper", turn.input
    for reply in map(_mapping, turn.replies):
        yield "assistant", str(reply.get("text", ""))


def _card(*parts: str) -> str:
    return f'<div class="t-turn">{"".join(parts)}</div>'


def _line(name: str, content: str) -> str:
    return f'<div class="line"><i>{name}</i><div>{content}</div></div>'


def tagged_html(text: str, tags: Sequence[str]) -> str:
    """Words that belong to a slot are marked, with its name."""
    words = text.split()
    if len(tags) != len(words):
        return escape(text)
    groups: list[tuple[str, list[str]]] = []
    for word, tag in zip(words, tags, strict=True):
        kind, _, slot = str(tag).partition("-")
        if kind == "I" and groups and groups[-1][0] == slot:
            groups[-1][1].append(word)
        else:
            groups.append((slot, [word]))
    return " ".join(
        f'<mark data-slot="{escape(slot)}">{escape(" ".join(some))}</mark>' if slot else escape(" ".join(some))
        for slot, some in groups
    )


def _reply(reply: Mapping[str, Any]) -> str:
    card = reply.get("card")
    shown = f" <small>with a card: {escape(str(card.get('action', '')))}</small>" if isinstance(card, Mapping) else ""
    return f'<div class="reply">{escape(str(reply.get("text", "")))}{shown}</div>'


def _handover(handover: Mapping[str, Any]) -> str:
    told = [str(handover[name]) for name in ("summary", "reason", "queue") if handover.get(name)]
    return "is called for: " + escape(" · ".join(told))


def _slot(name: str, value: Any, held: Mapping[str, Any], now: int) -> str:
    origin = ORIGINS.get(str(held.get("origin", "")), "")
    since = held.get("turn")
    when = "" if since is None else "in this turn" if since == now else f"in turn {since}"
    score = held.get("score")
    cells = (
        name,
        _short(value if value is not None else held.get("value")),
        f"{origin} {when}".strip(),
        str(held.get("text", "")),
        formatting.share(score) if isinstance(score, int | float) else "",
        str(held.get("keep", "")),
    )
    return f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"


def _questions(pending: Any) -> Iterator[str]:
    """The open question, and those under it."""
    while isinstance(pending, Mapping):
        kind = str(pending.get("kind", ""))
        slot = f" <b>{escape(str(pending['slot']))}</b>" if pending.get("slot") else ""
        labels = ", ".join(escape(str(label)) for label in _list(pending.get("labels")))
        failures = pending.get("failures") or 0
        failed = f", not answered {failures} {'time' if failures == 1 else 'times'}" if failures else ""
        choices = f": {labels}" if labels else ""
        where = escape(str(pending.get("state", "")))
        yield f"{escape(QUESTIONS.get(kind, kind))}{slot}{choices}{failed} <small>by {where}</small>"
        pending = pending.get("under")


def _action(action: Mapping[str, Any]) -> str:
    error = str(action.get("error") or "")
    source = str(action.get("source") or "")
    ms = action.get("ms")
    about = (
        ", ".join(f"{name}: {_short(value)}" for name, value in _mapping(action.get("arguments")).items()),
        f"{ms:.0f} ms" if isinstance(ms, int | float) else "" if source == OWN else "the answer of an earlier attempt",
        "sample data" if source == "sample" else source,
        f"failed: {error}" if error else "",
        "may have happened all the same" if action.get("uncertain") else "",
    )
    shown = escape(" · ".join(filter(None, about)))
    arguments, result = _json(action.get("arguments") or {}), _json(action.get("result"))
    return (
        f'<details class="{"failed" if error else ""}"><summary><b>{escape(str(action.get("name", "")))}</b>'
        f"<small>{shown}</small></summary><small>Arguments</small><pre>{escape(arguments)}</pre>"
        f"<small>Result</small><pre>{escape(result)}</pre></details>"
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    """What was imported, or kept by another version, may have another shape."""
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _short(value: Any) -> str:
    """As people read it: a place is its name, a time its words."""
    if isinstance(value, Mapping):
        named = value.get("name") or value.get("text")
        if isinstance(named, str):
            return named
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)[:200]


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=1, default=str)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\n… {len(text) - LONGEST} more letters"
