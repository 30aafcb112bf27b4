"""Which of two voices on one channel is the agent, from what they say.

    "Thank you for calling Harper Valley Bank, how can I help you?"     an agent's phrases
    "I'd like to check my balance."                                     a caller's

Every final adds to the evidence, and the names follow it: at once while little is published, later only if the
evidence against them has become as large. It follows from the published finals and from nothing else, so a
successor that reads them comes to the same names.
"""

from __future__ import annotations

import re
from collections.abc import Callable

CALLER, AGENT = 0, 1
"""Places in `Call.speakers`."""
FIRST = 0.5
"""Who speaks first has mostly picked up the telephone, once there are two."""
CERTAIN = 1.5
"""Names are exchanged when so much more speaks for it than against."""
LIMIT = 3.0
"""No utterance counts more than this."""

_AGENT = (
    (3.0, r"thank(s| you) for (calling|contacting|holding|waiting|choosing|banking|being a)"),
    (3.0, r"how (can|may|could) (i|we) (help|assist|be of)"),
    (2.0, r"what can (i|we) do for you"),
    (2.5, r"(anything|something) else (that )?(i|we) (can|could|may)"),
    (2.5, r"(can|could|may|might) (i|we) (please )?(have|get|take|ask( for)?|confirm|verify) (you|your|the)\b"),
    (2.0, r"(can|could|would|will) you (please )?(provide|verify|confirm|spell|tell me|give me|repeat) (me )?(with )?"
          r"(you|your|the last|the first|the first and|that for me)\b"),
    (1.5, r"what('s| is| was| are) your "
          r"(full |first |last |account |date|phone|telephone|address|email|zip|post|order|name)"),
    (1.5, r"(for|to) (security|verification|verify you)"),
    (1.5, r"(just )?(one|a) (moment|second|minute)( please)?|bear with me|please hold|hold (on )?(for )?a"),
    (1.0, r"let me (just )?(check|look|pull|see|get|find|bring|have a look|transfer|put you)"),
    (2.0, r"(my name is|this is|i am|i'm) \w+( \w+)? (with|from|at|speaking)\b|"
          r"you('re| are) (speaking|through) (with|to)"),
    (1.0, r"\b(welcome to|this is) (\w+ ){0,4}"
          r"(bank|support|service|services|insurance|customer|desk|hotline|clinic|shop|store)"),
    (1.0, r"i('m| am) (so |very |really )?sorry (to hear|about that|for (the|any|your))|i (do )?apologi[sz]e"),
    (1.0, r"i (can|will|could|'ll) (certainly |definitely |gladly |be (happy|glad) to )?(help|assist) you"),
    (1.0, r"(have|enjoy) (a|the rest of your) (great|good|nice|wonderful|lovely|pleasant)?"),
    (1.0, r"your (new )?(account|balance|order|card|appointment|password|payment|transfer|claim|bill|refund) "
          r"(is|has|was|will|should)\b"),
    (1.0, r"\b(we|i)('ve| have|'ll| will) (just )?"
          r"(send|sent|transfer|schedul|reset|process|updat|order|book|put|block|cancel)"),
    (1.0, r"(which|what) (day|time|account|amount|card|branch)s?\b.{0,30}\byou\b|"
          r"would you like (me|to)\b|do you have (your|the)"),
)  # fmt: skip
_CALLER = (
    (2.5, r"\bi('m| am| was| 'm) (just )?call(ing|ed) (you )?(about|to|because|regarding|in|for|today)"),
    (2.0, r"\bi('d| would) (like|love) (to|a)\b|"
          r"\bi (want|wanted|need|needed|was hoping|was wondering|have) (to|a|if|some) "),
    (1.5, r"(can|could|would) you (please )?"
          r"(help me|tell me (what|when|how|if|where|the)|check|transfer|send|schedule|reset)"),
    (1.0, r"\bmy (new )?(name is|name's|account|card|order|bill|address|password|phone|number|email|balance|"
          r"husband|wife|son|internet|package|appointment|date of birth)\b"),
    (1.5, r"\bi (just |recently |have )?(lost|forgot|forgotten|received|ordered|bought|paid|moved|tried|"
          r"got charged)\b"),
    (1.5, r"(how|where|when) (do|can|would|should) i\b|what (are|is) (your|the) (hours|local|opening|branch)"),
    (1.5, r"^(no|nope|nah)[,. ]+.{0,20}(that|thank|it)|that('s| is|'ll be| will be| was) (it|all|everything)\b"),
    (1.0, r"thank(s| you) (so much |very much )?for (your|the|all) (\w+ )?help|appreciate (it|your help)"),
    (0.5, r"\byou too\b"),
)  # fmt: skip
_COMPILED = [
    *((weight, re.compile(pattern)) for weight, pattern in _AGENT),
    *((-weight, re.compile(pattern)) for weight, pattern in _CALLER),
]


def agent_evidence(text: str) -> float:
    """How much more an agent would say this than a caller; below 0 the other way round."""
    spoken = text.lower().replace("\u2019", "'")
    found = sum(weight for weight, pattern in _COMPILED if pattern.search(spoken))
    return max(-LIMIT, min(LIMIT, found))


class SpeakerRoles:
    """Of one call."""

    def __init__(self, speakers: tuple[str, ...]) -> None:
        """`speakers`: the names of who calls and of who answers."""
        self._speakers = speakers
        self._evidence = [0.0, 0.0]
        """That each voice is the agent's."""
        self._heard: set[str] = set()
        self._first: int | None = None
        self._agent = AGENT
        """The voice that is taken for the agent's."""
        self._met = False
        """Both voices were heard."""
        self.on_change: Callable[[], None] = lambda: None

    @property
    def roles(self) -> tuple[str, ...]:
        """The name of each voice."""
        return self._speakers if self._agent == AGENT else tuple(reversed(self._speakers))

    def hear(self, voice: int, utterance: str, text: str) -> None:
        """A final; one that was heard before says nothing new."""
        if utterance in self._heard or not 0 <= voice < len(self._evidence):
            return
        self._heard.add(utterance)
        self._evidence[voice] += agent_evidence(text)
        if self._first is None:
            self._first = voice
        elif voice != self._first and not self._met:
            self._met = True
            self._evidence[self._first] += FIRST
        ahead = self._evidence[1 - self._agent] - self._evidence[self._agent]
        if ahead >= (CERTAIN if self._met else FIRST):
            self._agent = 1 - self._agent
            self.on_change()
