"""What is made of a line."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

import msgspec

from dialog.engine import asking
from dialog.engine.events import Heard
from dialog.engine.handover import ask_for_person, note_mood
from dialog.engine.interpretation.amending import BELIEVED, PRICES, amend, compare
from dialog.engine.interpretation.answering import answer_question
from dialog.engine.interpretation.correction import (
    corrects,
    named_instead,
    without_declined,
    without_fault,
    without_negated,
)
from dialog.engine.interpretation.guard import guarded
from dialog.engine.interpretation.line import STORE_LOCATION, Line, all_known, held
from dialog.engine.interpretation.repair import read_repaired
from dialog.engine.interpretation.settling import city_to_city, is_wish
from dialog.engine.interpretation.universal import small_talk, universal
from dialog.engine.interpretation.wishes import pieces, split
from dialog.engine.reprompts import long_pause, not_answered, not_understood
from dialog.engine.running import PERSON, Runner
from dialog.engine.scope import used_by
from dialog.engine.session import Wish
from dialog.engine.stack import suspend
from dialog.engine.turn import Turn
from dialog.understanding.keywords import fixed_phrase, normal
from dialog.understanding.language import foreign
from dialog.understanding.misheard import as_meant
from dialog.understanding.types import Intent, Understander
from dialog.understanding.unanswered import answers_nothing, has_cue
from dialog.values.shop.item import ItemParser
from tenor.taxonomy.assistant import NO_MATCH, SERVICE_ERROR

LONGEST: Final = 1_000
"""Characters of a line that is read; a longer one is no question to an assistant."""
SURE: Final = 0.8
"""Of a universal word that a model saw."""
_SHORT: Final = {
    "wat": "what", "wut": "what", "wot": "what", "wht": "what", "hbu": "how about", "wbu": "what about",
    "hw": "how", "abt": "about", "bout": "about", "n": "and",
}  # fmt: skip
"""As people type the words that begin a question further to the last one."""
_OPENING: Final = re.compile(
    rf"^((?:ok|okay|k|kk|so|and|lol|yo|well)[\s,]+)?({'|'.join(_SHORT)})\b(?:(\s+)(abt|bout)\b)?(?=\s)", re.I
)
_SHORTENED: Final = re.compile(r"^((?:ok|okay|k|kk|so|and|lol|yo|well)[\s,]+)?(what|how)(\s+)(?:abt|bout)\b", re.I)
_TAG: Final = re.compile(r"</?[a-zA-Z][^<>]{0,100}>")
_EMOJI_PARTS: Final = ("\ufe0f", "\u20e3")
"""The variation selector and the key cap, which no text is written with."""
NUMBERS: Final = ("number", "quantity", "size")
"""Types of slots that a 0 may answer."""
STORE: Final = STORE_LOCATION
STOCK: Final = "inventory_check"
_TO_BE_HAD: Final = re.compile(
    r"^\W*(?:(?:and|so|ok|okay|well|but|then)\W+)*(?:can|could) (?:i|we|you) (?:still )?(?:get|buy|have|order|find) "
    r"(?:one|it|some|any|them|those|that)\b",
    re.IGNORECASE,
)
"""Asks whether there is what was spoken of; where to get it begins with "where"."""
WANTED: Final = frozenset(("need", "some", "any", "get", "got", "buy", "find", "have", "looking", "would", "i'm"))
"""Words that say no more than that a thing is wanted."""
SHOWN_WITH: Final = frozenset(
    ("show", "see", "browse", "display", "your", "all", "available", "options", "kind", "kinds", "types", "of", "are")
)
SHOWN: Final = re.compile(r"\b(?:show|see|browse|display)\b", re.IGNORECASE)
CLOSE: Final = 0.1
"""Two intents nearer than this are asked about."""


def hear(turn: Turn, runner: Runner, understander: Understander, event: Heard) -> None:
    session = turn.session
    if session.handed_over:
        turn.note("a person has the conversation")
        session.intent = ""
        return
    if session.ended:
        turn.forget()
        session.ended, session.state = False, runner.home
    text = clean(event.text)
    session.context["text"] = text[:200]
    session.intent = NO_MATCH
    if not text:
        _nothing(turn, event.text)
        return
    if len(text) > LONGEST:
        turn.reply("too_long")
        asking.ask_again(turn)
        return
    if _was_long(turn) and long_pause(turn):
        return
    text = _as_meant(turn, _spelt_out(text))
    words = normal(text)
    named = fixed_phrase(words)
    # What understands reads English only, and takes distress for a danger where only a person is wanted.
    seen = "" if foreign(text) or named == PERSON else understander.read(text).topic
    if topic := guarded(turn.assistant, text, seen):
        turn.note("guard", topic.name)
        turn.say(turn.render(topic.say))
        asking.ask_again(turn)
        return
    if foreign(text):
        turn.note("another language")
        turn.reply("foreign")
        asking.ask_again(turn)
        return
    if words == "0" and _offers_person(turn):
        session.intent = "universal.person"
        ask_for_person(turn, "key 0")
        return
    if session.pending is not None and _question_goes_unanswered(turn, words):
        return
    if _person_too(turn, runner, understander, text):
        return
    if not _chooses_later(turn, words) and _everywhere(turn, named):
        return
    line = read_repaired(turn, understander, without_fault(without_declined(text)))
    if line.intent == SERVICE_ERROR:
        _service_failed(turn, runner, text)
        return
    session.context.pop("jarvis_error", None)
    if line.reading.sentiment:
        session.context["sentiment"] = line.reading.sentiment
        note_mood(turn, line.reading.sentiment)
    if line.intent == "universal.no" and not named and corrects(text) and amend(turn, runner, line):
        return  # "no, I said a lamp"
    noise = session.pending is not None and not has_cue(words, line.intent)
    if line.score >= SURE and not line.values and not named and not noise and _everywhere(turn, line.intent):
        return
    if session.pending is not None and answer_question(turn, runner, line):
        return
    if amend(turn, runner, line):
        return
    _wish(turn, runner, understander, line)


def _offers_person(turn: Turn) -> bool:
    """Whether a 0 that is typed is the key: a person was offered, or no number can be meant."""
    pending = turn.session.pending
    slot = turn.slot(pending.slot) if pending is not None else None
    return slot is None or slot.type not in NUMBERS


def _person_too(turn: Turn, runner: Runner, understander: Understander, text: str) -> bool:
    """ "how much is a sofa and can i talk to somebody": the answer, then a person."""
    others = [one for one in pieces(text) if fixed_phrase(normal(one)) != PERSON]
    if len(others) == len(pieces(text)) or not others:
        return False
    line = read_repaired(turn, understander, without_fault(without_declined(" and ".join(others))))
    about = bool(line.values) or turn.session.task is not None  # "what does it cost"
    if not is_wish(line.intent) or line.score < SURE or not line.rest() or not about:
        return False
    if not amend(turn, runner, line):
        _wish(turn, runner, understander, line)
    if turn.session.pending is not None:
        ask_for_person(turn, "asked")
    else:
        turn.session.wishes = [*turn.session.wishes, Wish(intent=PERSON, score=1.0, text=text)]
    return True


def _chooses_later(turn: Turn, words: str) -> bool:
    """Whether "later" answers that nobody is there to take over; elsewhere it is a goodbye."""
    pending = turn.session.pending
    return pending is not None and pending.kind == "person" and words in ("later", "maybe later", "try later")


def _question_goes_unanswered(turn: Turn, words: str) -> bool:
    """ "no idea", or a hesitation: a failure of the question, whatever else the words could be."""
    pending = turn.session.pending
    assert pending is not None
    if pending.kind not in ("slot", "choice") or not answers_nothing(words):
        return False
    if turn.session.task is not None:
        turn.session.intent = turn.session.task.intent
    not_answered(turn)
    return True


def _service_failed(turn: Turn, runner: Runner, text: str) -> None:
    """Nobody could read the line: the flow says so, and the open question stays."""
    turn.note("service failed")
    turn.session.context["jarvis_error"] = "unavailable"
    pending = turn.session.pending
    if pending is not None and pending.kind == "input":
        runner.receive(turn, pending.state, text)
    elif pending is None and (state := turn.assistant.intent_transitions.get(SERVICE_ERROR)):
        runner.run(turn, state)
    else:
        turn.reply("service_error")
        asking.ask_again(turn)


def clean(text: str) -> str:
    """Without control characters, pictures and doubled blanks; empty when there are no letters or digits in it."""
    text = _TAG.sub(" ", text[: LONGEST * 4])
    kept = "".join(" " if _is_no_text(one) else one for one in text)
    kept = " ".join(kept.split())
    return kept if re.search(r"\w", kept) else ""


def _as_meant(turn: Turn, text: str) -> str:
    """What a recogniser misheard as it was meant: the words of questions, and those of the shop."""
    text = as_meant(text)
    for parser in turn.parsers.values():
        if isinstance(parser, ItemParser):
            text = parser.as_meant(text)
    return text


def _spelt_out(text: str) -> str:
    """ "wat abt", "hbu" and the like at the beginning of a line as the words that they stand for."""
    opened = _OPENING.sub(
        lambda found: (
            (found[1] or "") + _SHORT[found[2].lower()] + (f"{found[3]}{_SHORT[found[4].lower()]}" if found[4] else "")
        ),
        text,
    )
    return _SHORTENED.sub(lambda found: f"{found[1] or ''}{found[2]}{found[3]}about", opened)


def _is_no_text(one: str) -> bool:
    kind = unicodedata.category(one)
    picture = one > "\xff" and (kind in ("So", "Sk") or one in _EMOJI_PARTS)
    return kind[0] in "CZ" or picture


def _nothing(turn: Turn, text: str) -> None:
    if text.strip():
        turn.note("no words")
        turn.reply("no_words")
    elif turn.session.pending is None:
        turn.reply("nothing_heard")
    asking.ask_again(turn)


def _was_long(turn: Turn) -> bool:
    session = turn.session
    return (
        bool(session.last_ms)
        and turn.now.timestamp() * 1000 - session.last_ms > turn.assistant.patterns.text_silence_ms
    )


def _everywhere(turn: Turn, intent: str) -> bool:
    """Universal words and small talk. Yes, no, "okay" and "great" may be answers and are left to the question."""
    session = turn.session
    if intent.startswith("universal."):
        if universal(turn, intent):
            session.intent = intent
            return True
        if session.pending is None:
            session.intent = intent
            turn.reply("go_on" if intent == "universal.yes" else "alright")
            return True
        return False
    if intent.startswith("smalltalk."):
        session.intent = intent
        return small_talk(turn, intent)
    return False


def _wish(turn: Turn, runner: Runner, understander: Understander, line: Line) -> None:
    session = turn.session
    bare = line.only_values and len(line.values) == 1 and "sort" not in line.values and line.score < BELIEVED
    if line.intent in (NO_MATCH, STORE) and _shown(turn, runner, line):
        return
    if not is_wish(line.intent) or bare:
        _no_wish(turn, runner, line)
        return
    if line.intent == STORE and _TO_BE_HAD.match(line.text) and "item" in turn.slots and "store" not in line.values:
        line.reading = msgspec.structs.replace(line.reading, intents=(Intent(STOCK, line.score),))
    _by_limit(turn, runner, line)
    if _ambiguous(turn, runner, line):
        return
    if city_to_city(turn, line):
        _no_route(turn, runner, line)
        return
    wishes = [one for one in split(turn, understander, line.text, line, runner.action_of) if is_wish(one.intent)]
    compare(turn, runner, line.text, wishes)
    if session.pending is not None and session.task is not None:
        if runner.action_of(wishes[0].intent) == session.task.action:
            for name, value in session.task.slots.items():
                if (
                    value.origin != "flow"
                    and not value.alternatives
                    and not (line.unknown_place and name == "location")
                ):
                    wishes[0].slots.setdefault(name, value)
        else:
            suspend(turn)
    session.wishes = wishes[1:]
    session.intent = runner.routed(wishes[0].intent)
    if not runner.begin(turn, wishes[0]):
        _no_wish(turn, runner, line)


def _shown(turn: Turn, runner: Runner, line: Line) -> bool:
    """ "show me jeans": what there is, with its price."""
    kinds = {turn.assistant.slots[name].type for name in line.values}
    shown = SHOWN.search(line.text) and "item" in kinds and "store" not in kinds and all_known(line)
    if not shown or not WANTED.issuperset(set(line.rest()) - SHOWN_WITH):
        return False
    wish = Wish(intent=PRICES, score=1.0, text=line.text, slots=line.slots(turn))
    if runner.action_of(PRICES) == "" or not runner.begin(turn, wish):
        return False
    turn.session.intent = PRICES
    return True


def _no_route(turn: Turn, runner: Runner, line: Line) -> None:
    """The way from one city to another is nothing that stores know; the end of the way waits for a store."""
    session = turn.session
    end = line.values["location"][-1]
    session.intent = runner.routed(line.intent)
    session.loose = {"location": held(turn, "location", end)}
    turn.reply("no_route", value=end.text)
    asking.ask_again(turn)


def _ambiguous(turn: Turn, runner: Runner, line: Line) -> bool:
    first, *others = line.reading.intents
    if first.score >= 0.6 or not others or first.score - others[0].score > CLOSE or not is_wish(others[0].name):
        return False
    names = [runner.routed(first.name), runner.routed(others[0].name)]
    actions = [runner.action_of(name) for name in names]
    if actions[0] == actions[1] or not all(actions):
        return False
    if _takes_all(turn, line, actions[0]) != _takes_all(turn, line, actions[1]):  # a limit of a price decides
        if _takes_all(turn, line, actions[1]):
            meant = (others[0], first, *others[1:])
            line.reading = msgspec.structs.replace(line.reading, intents=meant)
        return False
    from dialog.engine.session import Pending

    labels = [asking.TOPICS.get(action, action) for action in actions]
    turn.session.pending = Pending(kind="intent", state=turn.session.state, options=[*names, line.text], labels=labels)
    turn.session.loose = line.slots(turn)
    turn.say(asking.question(turn, turn.session.pending))
    return True


def _by_limit(turn: Turn, runner: Runner, line: Line) -> None:
    """ "laptops under 400 dollars in dallas" asks for prices, however much it looks like a search for stores."""
    kinds = {turn.assistant.slots[name].type for name in line.values}
    if not {"price", "item"} <= kinds or _takes_all(turn, line, runner.action_of(line.intent)):
        return
    score = line.score
    meant = [one for one in line.reading.intents if _takes_all(turn, line, runner.action_of(one.name))]
    first = meant[0] if meant else Intent(PRICES, score)
    if _takes_all(turn, line, runner.action_of(first.name)):
        others = (one for one in line.reading.intents if one.name != first.name)
        intents = (msgspec.structs.replace(first, score=score), *others)
        line.reading = msgspec.structs.replace(line.reading, intents=intents)


def _takes_all(turn: Turn, line: Line, action: str) -> bool:
    uses = used_by(turn, action) if action else None
    return uses is not None and line.values.keys() <= uses


def _no_wish(turn: Turn, runner: Runner, line: Line) -> None:
    without_negated(line)
    if corrects(line.text) and not turn.session.frames:  # "i meant weed killer", after what was refused
        named_instead(turn, line)
    told = all_known(line) or corrects(line.text)
    if line.values and WANTED.issuperset(line.rest()) and told:
        _loose(turn, runner, line)
        return
    runner.run(turn, not_understood(turn))


def _loose(turn: Turn, runner: Runner, line: Line) -> None:
    """Values before anything is wanted of them: they wait for the wish. A store, or a thing and a place, are one."""
    session = turn.session
    session.loose |= line.slots(turn)
    kinds = {turn.assistant.slots[name].type: value for name, value in session.loose.items()}
    if "store" in kinds or ("item" in kinds and "place" in kinds):
        wish = Wish(intent=STORE, score=1.0, text=line.text, slots=session.loose)
        if runner.begin(turn, wish):
            session.intent = STORE
            return
    if "item" in kinds:
        turn.reply("loose_item", value=kinds["item"].text)
    else:
        turn.reply("loose_value", value=next(iter(line.values.values()))[0].text)
