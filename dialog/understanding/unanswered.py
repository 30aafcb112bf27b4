"""Lines that answer nothing: "no idea", a hesitation, and noise that a model takes for a universal word."""

from __future__ import annotations

import re
from typing import Final

from dialog.values.tokens import word_set

_BEFORE: Final = (
    r"(?:(?:um+|uh+|er+m?|h+m+|eh|ah|oh|well|so|ok|okay|honestly|sorry|gosh|gee|man|look|no|nah|and)[\s,]+)*"
)
_AFTER: Final = (
    r"(?:[\s,]+(?:really|sorry|honestly|at all|yet|right now|now|exactly|tbh|man|then|actually|either|about that|"
    r"where|which|what|which one|what to say|to be honest|i guess|lol|though|anymore))*"
)
_DOES_NOT_KNOW: Final = re.compile(
    rf"^{_BEFORE}(?:"
    r"(?:i )?(?:really |just |honestly |still )?(?:(?:do not|don't|dont|didn't|wouldn't|couldn't) (?:really |even )?"
    r"(?:know|have (?:a clue|any idea|the foggiest))|have no (?:idea|clue)|am not sure|haven't (?:a clue|decided)|"
    r"can't (?:say|tell|decide|remember)|cannot (?:say|tell|decide)|forgot|forget|don't (?:care|mind|remember)|"
    r"couldn't (?:care less|say|tell you))|"
    r"(?:i'm |im |i am )?(?:not|un)(?: really| too| so| quite| totally)? ?(?:sure|certain|decided)|idk|idek|dk|iunno|"
    r"d(?:u|o)n+o+w?|dun+ow?|i dunno|no (?:idea|clue)|(?:got|have|haven't) no (?:idea|clue)|not a clue|who knows|"
    r"(?:god|lord|heaven) knows|beats me|search me|you tell me|hard to say|good question|"
    r"what ?ever(?: you (?:like|want|think))?|whichever|wherever|anything(?: goes)?|anywhere|"
    r"(?:it )?(?:doesn't|does not|don't) matter|(?:either|any) (?:one )?is fine|same difference|meh|eh|shrug|"
    rf"you (?:choose|decide|pick)){_AFTER}$"
)
_HESITATION: Final = re.compile(r"^(?:(?:um+|uh+|er+m?|h+m+|eh+|ah+|oh+|mm+|well|so|like|erm|uhm+)[\s,.…]*)+$")
_CUES: Final = {
    "universal.repeat": word_set(
        "again repeat say said saying hear heard pardon what what's sorry catch caught come once more rewind missed "
        "get got understand follow louder slower slowly tell huh wait excuse read"
    ),
    "universal.cancel": word_set(
        "cancel stop forget never nevermind mind drop skip leave quit abort scrap scratch don't dont not no enough "
        "changed anymore exit end done longer ignore call off"
    ),
    "universal.start_over": word_set("start begin over restart reset fresh scratch new again beginning clear top wipe"),
    "universal.help": word_set(
        "help can could do what how options assist assistance work works lost confused menu commands know support"
    ),
    "universal.goodbye": word_set(
        "bye goodbye later done all night care go going gotta leave hang see ya cya thanks thank day one nothing "
        "finished everything good farewell cheers ciao enough have talk off out that's thats"
    ),
    "universal.wait": word_set(
        "wait hold moment second sec minute min hang let think patience brb pause still check looking bear time on"
    ),
    "universal.person": word_set(
        "person human agent representative rep someone somebody people operator manager supervisor staff employee "
        "colleague service real talk speak connect transfer advisor associate support else live being humans agents"
    ),
}
"""Words without which a line is no universal word, whatever a model makes of it."""


def answers_nothing(line: str) -> bool:
    """Whether the (normal) line says that its speaker does not know, or nothing at all."""
    return len(line) <= 80 and bool(_DOES_NOT_KNOW.match(line) or _HESITATION.match(line))


def has_cue(line: str, intent: str) -> bool:
    """Whether the (normal) line has a word that this universal intent is said with."""
    cues = _CUES.get(intent)
    return cues is None or not cues.isdisjoint(line.split())
