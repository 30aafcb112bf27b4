"""Corrections ("no, I meant Seattle") and ellipses ("and tomorrow?"): both land on a task that is there already."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Final

import msgspec

from dialog.engine.interpretation.anaphora import listed_row, reused
from dialog.engine.interpretation.line import Line, held
from dialog.engine.interpretation.settling import is_wish
from dialog.engine.scope import used_by
from dialog.engine.session import Frame, SlotValue
from dialog.engine.turn import Turn
from dialog.replies.phrases import on_day
from dialog.values.quantity import in_plural
from dialog.values.types import Value

_EXCUSE: Final = r"excuse me|pardon(?: me)?|i'm sorry"
_CORRECTS: Final = re.compile(
    rf"^(?:(?:no|nope|nah|oh|ah|sorry|wait|actually|oops|hmm|um|uh|well|but|{_EXCUSE})[\s,.!-]+)*"
    r"(?:i (?:meant|mean|said|wanted|was asking about|asked about|wanted to say)|i'd rather|make (?:it|that)|"
    r"change (?:it|that|the \w+)? ?to|"
    r"not\b|instead|rather|try|use|in fact|actually|(?:no|nah|nope)[\s,.!-]+(?=\w)|sorry[\s,]+(?=\w)|wrong|"
    r"it should (?:be|have been) (?=\w))",
    re.IGNORECASE,
)
_FAULT: Final = re.compile(
    r"^(?:(?:no|oh|ah|sorry|wait|um|uh|ugh|argh|well)[\s,.!-]+)*"
    r"(?:(?:oops|whoops|my bad|my mistake|silly me|my apologies|(?:that's|thats|that was|that is) wrong|"
    r"wrong (?:city|place|one|day)|i(?:'m| am) (?:so )?(?:stupid|silly|dumb|an idiot)|i misspoke|typo)[\s,.!-]+)+"
    r"(?:(?:it's|its|it is) )?(?=\w)",
    re.IGNORECASE,
)
"""The shopper blames himself, before what is right."""
_INSTEAD: Final = re.compile(r"\b(?:instead|rather)\W*$", re.IGNORECASE)
_FURTHER: Final = re.compile(
    r"^(?:(?:ok|okay|k|kk|yo|lol|so|well|um|uh|oh|hmm|alright|all right|right|fine|sure|"
    r"great|cool|thanks|thank you|never ?mind|"
    r"no problem|no worries|then|yes|yeah|no)[\s,.!]+)*(?:and|what about|how about|what if|how "
    r"is|same for|"
    r"or|also|then|and then|try|same thing (?:for|in)|the same (?:for|in))\b[\s,]*(?:what about|how about|also|"
    r"for|with)?\s*",
    re.IGNORECASE,
)
_ALSO: Final = re.compile(r"^(?:[\w']+ ){1,4}(?:too|as well|also)(?:,? please)?\W*$", re.IGNORECASE)
"""Ends like an addition: "cheese too please"."""
_LEADS_ON: Final = re.compile(
    r"[\s,.;]+(?:and )?(?:what|how) about (?:there|that one|that|it|them|those|her|him)\W*$", re.IGNORECASE
)
"""Ends by asking the same of what was told before: "my sister lives in Macon, what about there"."""
_NEGATED: Final = re.compile(
    r"\b(?:not|instead of|rather than|no longer|isn't|forget)(?:\s+(?:in|for|at|on|the|to|a|an|any|some))*\s*$", re.I
)
_DENIED: Final = re.compile(
    rf"^(?:(?:no|nope|oh|sorry|wait|{_EXCUSE})[\s,.!-]+)*not [^,;]{{1,60}}?(?:[,;]| but )\s*(?=\w)",
    re.IGNORECASE,
)
"""What stands before the right name: "not butter, margarine"."""
_DECLINED: Final = re.compile(
    r"^(?:(?:no|nope|oh|sorry|ok|okay|look|well)[\s,.!-]+)*(?:"
    r"(?:(?:i'm |i am )?not (?:interested in|asking (?:about|for)|looking for|talking about|after)|"
    r"i (?:don't|do not|dont) (?:want|need|care about|mean)(?: to know)?(?: about)?|"
    r"never ?mind|forget(?: about)?|skip)\s+"
    r"(?:the |any |your |about )*"
    r"(?:weather|forecast|temperature|prices?|costs?|stock|availability|stores?|directions?))"
    r"(?:\s*[,;.]+\s*(?:but |i )?|\s+(?:but|just) )(?:just |only )*(?=\w+ \w)",
    re.IGNORECASE,
)
"""A topic that is not wanted, before what is."""
_DAY_AFTER: Final = re.compile(
    r"\b(?:the )?(?:day (?:after|(before))(?: that| then)?|(?:next|following|(previous)) day)\b"
    r"(?!\s+(?:tomorrow|yesterday))",
    re.IGNORECASE,
)
_PART: Final = re.compile(r"(?:(?:in|during|at) )?(?:the )?(?:morning|afternoon|evening|night)", re.IGNORECASE)
"""A part of a day, without the day."""
_IT_CLAUSE: Final = re.compile(r"^(?:the |a |an |some |any )", re.IGNORECASE)
_TAIL: Final = re.compile(r"[\s,]*(?:then|please|instead|too|as well|though)?[\s?.!,]*$", re.IGNORECASE)


def corrects(text: str) -> bool:
    return bool(_CORRECTS.match(text) or _INSTEAD.search(text))


def without_fault(text: str) -> str:
    """ "my bad, Dallas" and "oops, it's Dallas" as "no, Dallas": the blame is no part of what is meant."""
    fault = _FAULT.match(text)
    if fault is None:
        return text
    rest = text[fault.end() :]
    return rest if corrects(rest) else f"no, {rest}"


def bare_place(turn: Turn, line: Line) -> None:
    """ "what about mobile?" after the weather: what could be a product is the city that is asked about."""
    task = turn.session.task
    place = next((slot.name for slot in turn.assistant.slots.values() if slot.type == "place"), "")
    parser = turn.parser(place) if place else None
    if task is None or parser is None or place not in task.slots or place in line.values:
        return
    if {"item", "store"} & task.slots.keys() or line.values.keys() - {"item", "store"}:
        return
    text = _TAIL.sub("", _CORRECTS.sub("", _FURTHER.sub("", line.text))).strip()
    if 1 <= len(text.split()) <= 3 and (value := parser.answer(text, turn.parse_context(place))):
        start = max(line.text.find(text), 0)
        line.values = {place: [msgspec.structs.replace(value, text=text, start=start, end=start + len(text))]}


def tells_first(text: str) -> bool:
    """ "my sister lives in Macon, what about there": the last question again, of what is told first."""
    return bool(_LEADS_ON.search(text))


def goes_on(text: str) -> bool:
    return bool(_FURTHER.match(text) or _ALSO.match(text) or _LEADS_ON.search(text))


def without_negated(line: Line) -> bool:
    """Drop values that the line denies ("not boston, seattle"); whether there were any."""
    denied = False
    for name, values in list(line.values.items()):
        kept = [value for value in values if not _NEGATED.search(line.text[: value.start])]
        if len(kept) != len(values):
            denied = True
            line.denied += [value for value in values if value not in kept]
            if kept:
                line.values[name] = kept
            else:
                del line.values[name]
    return denied


def without_declined(text: str) -> str:
    """ "not interested in the weather, just tell me where ...": what follows the topic that is not wanted."""
    declined = _DECLINED.match(text)
    return text[declined.end() :] if declined else text


def next_day(turn: Turn, line: Line) -> None:
    """ "and the day after that?", "the day before": one day from what the last task was about."""
    found, frame = _DAY_AFTER.search(line.text), turn.session.task
    if found is None or frame is None or "when" not in frame.slots or "when" in line.values:
        return
    last = frame.slots["when"].value
    try:
        back = found[1] or found[2]
        day = date.fromisoformat(str(last["from" if back else "to"])[:10]) + timedelta(days=-1 if back else 1)
    except (KeyError, TypeError, ValueError):
        return
    value = {"text": found.group(), "from": day.isoformat(), "to": day.isoformat()}
    line.values["when"] = [Value(type="when", text=found.group(), start=found.start(), end=found.end(), value=value)]


def same_day(turn: Turn, line: Line) -> None:
    """ "and in the evening?" after tomorrow: the evening of that day."""
    frame, found = turn.session.task, line.values.get("when")
    if frame is None or "when" not in frame.slots or not found or not _PART.fullmatch(found[0].text):
        return
    last, said = frame.slots["when"].value, found[0].value
    if isinstance(last, dict) and last.get("from") == last.get("to") and last.get("from") != said.get("from"):
        words = on_day(last["from"], turn.now)
        text = f"{words} {said['part']}" if words == "tomorrow" else f"{words.removeprefix('on ')} {said['part']}"
        value = {**said, "text": text, "from": last["from"], "to": last["to"]}
        line.values["when"] = [msgspec.structs.replace(found[0], value=value)]


def another_row(turn: Turn, line: Line) -> None:
    """ "what about the second one?" after a list of stores: the question again about that store alone."""
    frame = turn.session.task
    slot = next((one for one in turn.assistant.slots.values() if one.type == "store"), None)
    if frame is None or frame.action != "places" or slot is None or slot.name in line.values:
        return
    if found := listed_row(turn, line.text):
        row, where = found
        name = str(row.get("name"))
        value = Value(type="store", text=name, start=where.start(), end=where.end(), value=name)
        line.values[slot.name] = [value]


def as_before(turn: Turn, line: Line) -> None:
    """ "make it 5": five pounds after three pounds, size 10 after size 9."""
    frame = turn.session.task
    kinds = {turn.assistant.slots[name].type: name for name in line.values}
    if frame is None or "quantity" not in kinds:
        return
    counted = line.values[kinds["quantity"]][0]
    if kinds.keys() == {"quantity", "item"} and kinds["item"] in frame.slots and _within(line, kinds["item"], counted):
        del line.values[kinds.pop("item")]  # "4 bottles", after two bottles of oil
    if kinds.keys() != {"quantity"}:
        return
    name = kinds["quantity"]
    first = line.values[name][0]
    if not isinstance(first.value, dict) or first.value.get("unit"):
        return
    before, size = frame.slots.get(name), next((one for one in frame.slots if _is_size(turn, one)), "")
    if before is None and size and str(frame.slots[size].value).isdigit():
        line.values = {size: [msgspec.structs.replace(first, type="size", value=f"{first.value['amount']:g}")]}
    elif before is not None and isinstance(before.value, dict) and (unit := before.value.get("unit")):
        amount = first.value["amount"]
        text = f"{first.text} {unit if amount == 1 else in_plural(unit)}"
        line.values[name] = [msgspec.structs.replace(first, value={"amount": amount, "unit": unit}, text=text)]


def _within(line: Line, name: str, value: Value) -> bool:
    return all(value.start <= one.start and one.end <= value.end for one in line.values[name])


def _is_size(turn: Turn, name: str) -> bool:
    slot = turn.slot(name)
    return slot is not None and slot.type == "size"


def landing(turn: Turn, line: Line) -> Frame | None:
    """The newest task that takes all values of the line."""
    session = turn.session
    names = set(line.values)
    fit: list[Frame] = []
    for frame in (session.task, *reversed(session.frames)):
        if frame is None or not frame.action:
            continue
        uses = used_by(turn, frame.action)
        if names and (uses is None or names <= uses):
            fit.append(frame)
    for frame in fit[1:]:  # "the weather on friday and a bakery": saturday is said of the weather
        if names <= frame.slots.keys() and not names <= fit[0].slots.keys() and _last(frame) == _last(fit[0]):
            return frame
    return fit[0] if fit else None


def _last(frame: Frame) -> int:
    """The turn in which its newest value was said."""
    return max((value.turn for value in frame.slots.values()), default=0)


def bare_item(turn: Turn, line: Line) -> bool:
    """ "and eggs?" after a price: what follows the opening is read as the item of the last task, if it had one."""
    if line.values.keys() - {"sort"} or (is_wish(line.intent) and line.score >= 0.9):
        return False
    text = _TAIL.sub("", _CORRECTS.sub("", _FURTHER.sub("", _DENIED.sub("", line.text)))).strip()
    text = _IT_CLAUSE.sub("", text)
    if not 1 <= len(text.split()) <= 4:
        return False
    for frame in (turn.session.task, *reversed(turn.session.frames)):
        for name in ("item", "store"):
            slot, parser = turn.slot(name), turn.parser(name)
            if frame is None or slot is None or parser is None or name not in frame.slots:
                continue
            if value := parser.answer(text, turn.parse_context(name)):
                start = max(line.text.find(text), 0)
                line.values[name] = [msgspec.structs.replace(value, text=text, start=start, end=start + len(text))]
                return True
    return False


def named_instead(turn: Turn, line: Line) -> None:
    """What a correction names where nothing is there that it could correct: a product."""
    name = next((slot.name for slot in turn.assistant.slots.values() if slot.type == "item"), "")
    text = _IT_CLAUSE.sub("", _TAIL.sub("", _CORRECTS.sub("", line.text)).strip())
    parser = turn.parser(name) if name else None
    if parser is None or line.values or not 1 <= len(text.split()) <= 4:
        return
    if value := parser.answer(text, turn.parse_context(name)):
        start = max(line.text.find(text), 0)
        line.values[name] = [msgspec.structs.replace(value, text=text, start=start, end=start + len(text))]


def _same_state(value: SlotValue, before: SlotValue | None) -> None:
    """Lafayette after Shreveport is the one in Louisiana."""
    state = before.value.get("state") if before is not None and isinstance(before.value, dict) else None
    near = [one for one in (value.value, *value.alternatives) if isinstance(one, dict) and one.get("state") == state]
    if state and value.alternatives and len(near) == 1:
        value.value, value.alternatives = near[0], []


def amended(turn: Turn, frame: Frame, line: Line) -> Frame:
    """The task again with the new values; what hangs on a changed one is cleared."""
    new: dict[str, SlotValue] = {
        name: held(turn, name, values[-1 if corrects(line.text) else 0]) for name, values in line.values.items()
    }
    for name, value in new.items():
        _same_state(value, frame.slots.get(name))
    slots = {name: reused(value) for name, value in frame.slots.items()}
    for slot in turn.assistant.slots.values():
        if any(one in new for one in slot.depends_on) and slot.name not in new:
            slots.pop(slot.name, None)
    kinds = {turn.assistant.slots[name].type for name in new}
    if "item" in kinds and "store" not in kinds and frame.action == "places":
        slots.pop("store", None)
    if "store" in kinds and "item" not in kinds and frame.action == "places":
        slots.pop("item", None)
    slots.update(new)
    return msgspec.structs.replace(
        frame, slots=slots, done=False, changed=False, empty=False, confirmed=False,
        unknown_place=line.unknown_place, here=line.here,
    )  # fmt: skip
