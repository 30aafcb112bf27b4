"""A line that leans on what was answered last: the same task again, with other values."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from dialog.engine.comparison import compared_action, compares
from dialog.engine.interpretation.correction import (
    amended,
    another_row,
    as_before,
    bare_item,
    bare_place,
    corrects,
    goes_on,
    landing,
    next_day,
    same_day,
    tells_first,
    without_negated,
)
from dialog.engine.interpretation.line import Line, all_known
from dialog.engine.interpretation.settling import is_wish
from dialog.engine.running import Runner
from dialog.engine.session import Frame, Wish
from dialog.engine.turn import Turn

PRICES: Final = "price_check"
BELIEVED: Final = 0.9
"""From here on even a line of one value and small words ("i'd like thai food") is what it seems."""
_WHICH_ONE: Final = re.compile(
    r"^\W*(?:(?:and|so|ok|okay|well)\W+)*which\b|\b(?:of|among) (?:them|those|these|all)\W*$|"
    r"^\W*(?:(?:and|so|ok|okay|now|please|can you|could you|would you|i want you to) )*"
    r"(?:sort|order|rank|arrange|list|show|put)\b(?: me)?(?: (?:it|them|those|these|the (?:list|results)))?"
    r"(?: in order)? (?:by|with|from)\b",
    re.IGNORECASE,
)
"""Asks for one of those that were found, or for their order."""


def amend(turn: Turn, runner: Runner, line: Line) -> bool:
    """A correction or an ellipsis: the last task again with other values."""
    session = turn.session
    if session.task is None and not session.frames:
        return False
    next_day(turn, line)
    same_day(turn, line)
    another_row(turn, line)
    as_before(turn, line)
    correcting, further = corrects(line.text), goes_on(line.text)
    if correcting:
        without_negated(line)
    if correcting or further:
        bare_place(turn, line)
    if (correcting or further) and not line.only_values:
        bare_item(turn, line)
    told = further and tells_first(line.text) and bool(line.values)
    if told:  # a sister is nothing to buy
        line.values = {
            name: values for name, values in line.values.items() if name in (session.task or session.frames[-1]).slots
        }
        told = bool(line.values)
    chooses = line.values.keys() == {"sort"} and bool(_WHICH_ONE.search(line.text)) and not is_wish(line.intent)
    own = is_wish(line.intent) and line.score >= 0.7 and bool(line.rest()) and not line.only_here and not told
    bare = line.only_values and (all_known(line) or correcting or further)
    nowhere = line.unknown_place or line.only_here
    if own or not (bare or told or chooses or (correcting and line.values) or (nowhere and (correcting or further))):
        return False
    if line.only_here:
        line.values = {}
    if _all_again(turn, runner, line):
        return True
    frame = landing(turn, line) if line.values else session.task
    if frame is None and chooses and "item" in turn.slots:  # what is in stock has no order: prices have one
        session.intent = PRICES
        return runner.begin(turn, Wish(intent=PRICES, score=1.0, text=line.text, slots=line.slots(turn)))
    if frame is None:
        return False
    if not correcting and _is_new(turn, runner, line, frame):
        return False
    turn.note("correction" if correcting else "ellipsis", ", ".join(line.values))
    if frame.changed and correcting:
        session.intent = frame.intent
        turn.reply("changed")
        return True
    session.task, session.together = amended(turn, frame, line), []
    if (line.unknown_place or line.here) and "location" not in line.values:
        session.task.slots.pop("location", None)
    session.intent, session.context["intent"] = frame.intent, frame.intent
    session.pending, session.calls, session.failures = None, {}, 0
    runner.run(turn, turn.assistant.intent_transitions.get(frame.intent) or frame.state)
    return True


def compare(turn: Turn, runner: Runner, text: str, wishes: list[Wish]) -> None:
    """Note what wishes of one line are compared by, if they are."""
    session = turn.session
    actions = [runner.action_of(one.intent) for one in wishes]
    session.comparing, session.compared, session.together = compares(text, actions), [], []
    if session.comparing:
        compared = compared_action(session.comparing)
        session.together = [one for one, action in zip(wishes, actions, strict=True) if action == compared]


def _all_again(turn: Turn, runner: Runner, line: Line) -> bool:
    """ "and tomorrow?" after a comparison: all that was compared, for that time."""
    session, when = turn.session, line.slots(turn)
    kinds = {turn.assistant.slots[name].type for name in when}
    if not session.together or kinds != {"when"} or session.pending is not None:
        return False
    wishes = [msgspec.structs.replace(one, slots={**one.slots, **when}) for one in session.together]
    turn.note("ellipsis", ", ".join(when))
    compare(turn, runner, " or ".join(one.text for one in wishes), wishes)
    session.wishes = wishes[1:]
    session.intent = runner.routed(wishes[0].intent)
    return runner.begin(turn, wishes[0])


def _is_new(turn: Turn, runner: Runner, line: Line, frame: Frame) -> bool:
    """Whether values alone are a wish of another task after all ("sushi restaurants in boston" after a price)."""
    kinds = {turn.assistant.slots[name].type for name in line.values}
    return (
        is_wish(line.intent)
        and line.score >= BELIEVED
        and runner.action_of(line.intent) != frame.action
        and len(line.values) > 1
        and bool(kinds & {"item", "store"})
    )
