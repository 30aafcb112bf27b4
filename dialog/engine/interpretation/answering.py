"""Answers to the open question: the slot's own parser reads the line before intents do."""

from __future__ import annotations

import re
from typing import Final

from dialog.engine import asking
from dialog.engine.handover import ask_for_person
from dialog.engine.interpretation.correction import amended, as_before, corrects, without_negated
from dialog.engine.interpretation.line import Line, held, means_last_place
from dialog.engine.interpretation.settling import is_wish, unknown_place
from dialog.engine.reprompts import not_answered
from dialog.engine.running import Runner
from dialog.engine.scope import remember, used_by
from dialog.engine.session import Frame, Pending, SlotValue, Wish
from dialog.engine.turn import Turn
from dialog.understanding.keywords import fixed_phrase, normal, plain_store
from dialog.values.types import KNOWN, Value

_CLAUSE: Final = re.compile(
    r"^\W*(?:what|why|how|who|where|when|which|i|i'm|you|do|does|can|could|is|are|it|that|this|there|we|they|my|your|"
    r"nothing|something|anything|whatever|none|not|never)\b",
    re.IGNORECASE,
)
"""Begins a sentence, not the name of a product."""
LENIENT: Final = frozenset(("item", "store", "text"))
"""Types whose parser takes almost any words: a line that is another question is no value of theirs."""
SURE: Final = 0.8
"""Of a line that is a whole question."""
_BESIDE_SOMETHING: Final = re.compile(
    r"^\W*(?:(?:um|uh|well|it's|its|just|right|somewhere|the one|one)\W+)*"
    r"(?:near|by|close to|next to|beside|behind|across from|opposite|around) (?:the|my|our|a)\b",
    re.IGNORECASE,
)
"""Where something is, by what stands there: no city, and nothing else to look for."""
_GO_ON: Final = re.compile(r"\b(?:go on|continue|carry on|with you|keep going|you|here|first)\b", re.IGNORECASE)
_LATER: Final = re.compile(r"\b(?:later|try again|second|wait|callback|call back)\b", re.IGNORECASE)


def answer_question(turn: Turn, runner: Runner, line: Line) -> bool:
    """Whether the line dealt with the open question; otherwise it is a correction, a digression or a new wish."""
    pending = turn.session.pending
    assert pending is not None
    if turn.session.task is not None:
        turn.session.intent = turn.session.task.intent
    match pending.kind:
        case "person":
            return _person(turn, runner, pending, line)
        case "resume":
            return _resume(turn, runner, pending, line)
        case "confirm":
            return _confirm(turn, runner, pending, line)
        case "choice":
            return _choice(turn, runner, pending, line)
        case "intent":
            return _intent(turn, runner, pending, line)
        case _:
            return _slot(turn, runner, pending, line)


def _person(turn: Turn, runner: Runner, pending: Pending, line: Line) -> bool:
    session = turn.session
    answer = asking.yes_or_no(line.text)
    session.pending = pending.under
    if pending.slot == "nobody":
        if answer is None and not is_wish(line.intent) and not line.values:
            answer = True if _GO_ON.search(line.text) else False if _LATER.search(line.text) else None
        more = bool(line.values) and (is_wish(line.intent) or session.pending is not None)  # "fine. weather in Fargo"
        more = more or (_is_sure(line) and bool(line.rest()))  # "ok what does it cost"
        if answer is not None and not more:
            session.intent = "universal.yes" if answer else "universal.no"
            turn.reply("person_yes" if answer and session.pending is None else "alright")
            asking.ask_again(turn)
            return True
    elif answer is True and not _answers_under(pending, line):
        session.intent = "universal.yes"
        ask_for_person(turn, "failures")
        return True
    elif answer is False:
        session.intent = "universal.no"
        turn.reply("person_no" if session.pending is None else "alright")
        asking.ask_again(turn)
        return True
    return session.pending is not None and answer_question(turn, runner, line)


def _answers_under(pending: Pending, line: Line) -> bool:
    """ "ok ok, Albuquerque": not a person, but what had been asked for."""
    return pending.under is not None and pending.under.slot in line.values


def _resume(turn: Turn, runner: Runner, pending: Pending, line: Line) -> bool:
    session = turn.session
    answer = asking.yes_or_no(line.text)
    session.pending = pending.under
    if answer is None:
        return session.pending is not None and answer_question(turn, runner, line)
    if answer:
        turn.reply("resumed")
        asking.ask_again(turn)
    else:
        session.pending, session.task, session.stack = None, None, []
        session.state = turn.home
        turn.reply("person_yes")
    return True


def _confirm(turn: Turn, runner: Runner, pending: Pending, line: Line) -> bool:
    session, task = turn.session, turn.task()
    answer = asking.yes_or_no(line.text)
    uses = used_by(turn, task.action) or frozenset()
    without_negated(line)
    as_before(turn, line)
    amends = {name for name in line.values if name in uses}
    changes = corrects(line.text) or (answer is not True and (line.only_values or answer is False))
    if amends and changes and not _elsewhere(turn, runner, line):
        session.task = amended(turn, task, line)
        session.pending = None
        runner.run(turn, pending.state)
        return True
    if answer is None:
        if _elsewhere(turn, runner, line):
            return False
        not_answered(turn)
        return True
    session.pending = None
    session.intent = "universal.yes" if answer else "universal.no"
    if answer:
        task.confirmed = True
        runner.run(turn, pending.state)
        return True
    state = turn.assistant.state(pending.state)
    if "declined" not in state.transitions:
        turn.reply("not_done")
    task.done = True
    remember(turn)  # nothing was done, but "there" and "it" are what it was about
    runner.run(turn, state.transitions.get("declined") or turn.home)
    return True


def _choice(turn: Turn, runner: Runner, pending: Pending, line: Line) -> bool:
    index = asking.chosen(pending, line.text)
    task = turn.task()
    if index is not None and pending.slot in task.slots:
        before = task.slots[pending.slot]
        before.value, before.alternatives, before.origin = pending.options[index], [], "answered"
        _also(turn, line, skip=pending.slot)
        turn.session.pending = None
        _pass_on(turn, pending.slot)
        runner.run(turn, pending.state)
        return True
    parser = turn.parser(pending.slot)
    value = parser.answer(line.text, turn.parse_context(pending.slot)) if parser is not None else None
    if value is not None:
        return _fill(turn, runner, pending, value, line)
    if _elsewhere(turn, runner, line) or (is_wish(line.intent) and bool(line.rest())):
        return False
    not_answered(turn)
    return True


def _intent(turn: Turn, runner: Runner, pending: Pending, line: Line) -> bool:
    index = asking.chosen(pending, line.text)
    turn.session.pending = None
    if index is None:
        return False
    *names, text = pending.options
    wish = Wish(intent=names[index], score=1.0, text=text, slots=dict(turn.session.loose))
    turn.session.loose = {}
    return runner.begin(turn, wish)


def _slot(turn: Turn, runner: Runner, pending: Pending, line: Line) -> bool:
    name = pending.slot
    slot, parser = turn.slot(name), turn.parser(name)
    kind = slot.type if slot is not None else name
    if fixed_phrase(normal(line.text)) in ("universal.yes", "universal.no") and kind != "yes_no":
        not_answered(turn)
        return True
    same_place = kind == "place" and means_last_place(line.text)
    if same_place and (last := turn.session.recall.get(name)) is not None:
        again = Value(type=kind, text=last.text, start=0, end=0, value=last.value, score=last.score)
        return _fill(turn, runner, pending, again, line)
    nowhere = kind == "place" and pending.kind == "slot" and _names_nowhere(line)
    elsewhere = not nowhere and _elsewhere(turn, runner, line)
    task = turn.session.task
    if task is not None and task.empty and _asks_anew(line, name):
        turn.session.pending = None
        return False
    others_only = kind in LENIENT and line.only_values and name not in line.values
    if others_only and task is not None and task.empty:
        return False  # nothing was found: another colour or place, and the same item
    if others_only:
        value = None
    elif kind in LENIENT and (
        elsewhere or (is_wish(line.intent) and line.score >= SURE and len(line.text.split()) > 3)
    ):
        value = None if elsewhere else next(iter(line.values.get(name, ())), None)
    elif parser is None or (elsewhere and line.rest()):
        value = None
    elif kind in LENIENT and line.only_values and len(line.values) > 1:  # "the cheapest bluetooth speaker"
        value = line.values[name][0]
    else:
        value = parser.answer(line.text, turn.parse_context(name))
    if value is not None and kind in LENIENT and value.score <= KNOWN and _CLAUSE.match(line.text):
        value = None
    if value is None and not nowhere and _another_question(turn, runner, line):
        return False
    if value is None and not elsewhere:
        without_negated(line)
        value = next(iter(line.values.get(name, ())), None)
    if value is not None:
        return _fill(turn, runner, pending, value, line)
    if elsewhere:
        return False
    same_task = is_wish(line.intent) and line.score >= turn.assistant.patterns.digress_above and bool(line.rest())
    if same_task and turn.session.task is not None and not line.unknown_place:
        return False
    nowhere = nowhere or (kind == "place" and (line.here or bool(_BESIDE_SOMETHING.match(line.text))))
    if not nowhere and _also(turn, line):
        turn.note("other values than asked")
        asking.ask_again(turn)
        return True
    if pending.kind == "input":  # the flow itself says what happens then
        runner.receive(turn, pending.state, line.text)
        return True
    not_answered(turn, _lead(turn, kind, line))
    return True


def _asks_anew(line: Line, name: str) -> bool:
    """After nothing was found: a whole question with another name is no answer ("where is a bakery in Boston")."""
    return _is_sure(line) and name in line.values and bool(line.rest())


def _is_sure(line: Line) -> bool:
    return is_wish(line.intent) and line.score >= SURE


def _names_nowhere(line: Line) -> bool:
    """Whether the line is the name of an unknown place and nothing else ("in mordor"), whatever a model makes of it."""
    name = normal(line.unknown_place).split()
    return bool(name) and all(word in name for word in line.rest())


def _lead(turn: Turn, kind: str, line: Line) -> str:
    """What is said before the question again: which place is not known, or that nobody knows where "here" is."""
    if kind != "place":
        return ""
    if line.here:
        return turn.worded(turn.texts("here"), "here", 0)
    if means_last_place(line.text):
        return ""
    words = line.unknown_place or unknown_place(turn, line.text, asked=True)
    if not words:
        return ""
    return asking.unknown_place_lead(turn, words)


def _fill(turn: Turn, runner: Runner, pending: Pending, value: Value, line: Line) -> bool:
    session = turn.session
    if pending.kind == "input":
        runner.receive(turn, pending.state, line.text)
        return True
    session.pending = None
    session.failures = 0
    task = turn.task()
    task.slots[pending.slot] = held(turn, pending.slot, value, "answered")
    if task.empty:
        task.done = task.empty = False
        task.failures = max(task.failures, pending.failures)
        if pending.slot == "item":
            task.slots.pop("store", None) if task.action == "places" else None
    turn.note("fills", pending.slot)
    _also(turn, line, skip=pending.slot)
    _pass_on(turn, pending.slot)
    runner.run(turn, pending.state)
    return True


def _also(turn: Turn, line: Line, skip: str = "") -> bool:
    """Take values for other slots of the task than the one that the line answers (`skip`), so that they are not asked
    for."""
    task = turn.session.task
    if task is None:
        return False
    uses = used_by(turn, task.action)
    taken = False
    for name, value in line.slots(turn).items():
        if name in ("item", "store") and _says_nothing_new(task, name, value):
            continue
        if name != skip and (uses is None or name in uses) and not (skip and _inside(line, name, skip)):
            task.slots[name] = value
            taken = True
    return taken


def _says_nothing_new(task: Frame, name: str, value: SlotValue) -> bool:
    """A plain "store"; words that nobody knows ("downtown"), where what is looked for has been said."""
    known = any(one in task.slots and not plain_store(task.slots[one].text) for one in ("item", "store"))
    return (name == "store" and plain_store(value.text)) or (known and value.score <= KNOWN)


def _inside(line: Line, name: str, other: str) -> bool:
    """Whether the words of a value are those of the answer itself ("orange juice" is no colour)."""
    mine, theirs = line.values.get(name), line.values.get(other)
    if not mine:
        return True
    if theirs is None:
        return name in ("item", "store")
    return any(one.start < two.end and two.start < one.end for one in mine for two in theirs)


def _pass_on(turn: Turn, name: str) -> None:
    """What was asked for once holds for the other wishes of the line."""
    value: SlotValue | None = turn.slots.get(name)
    if value is not None:
        for wish in turn.session.wishes:
            wish.slots.setdefault(name, value)


def _another_question(turn: Turn, runner: Runner, line: Line) -> bool:
    """Whether the line is a whole question of the same task with another intent: it takes the place of the open one."""
    task = turn.session.task
    return (
        is_wish(line.intent)
        and line.score >= turn.assistant.patterns.digress_above
        and task is not None
        and runner.routed(line.intent) != task.intent
        and bool(line.rest())
    )


def _elsewhere(turn: Turn, runner: Runner, line: Line) -> bool:
    """Whether the line is a question of another task."""
    task = turn.session.task
    return (
        is_wish(line.intent)
        and line.score >= turn.assistant.patterns.digress_above
        and (task is None or runner.action_of(line.intent) != task.action)
        and not line.only_values
    )
