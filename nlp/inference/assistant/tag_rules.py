"""What the model's tags leave to chance and a list of words settles: articles, auxiliaries, question words, verbs.

The tagging is of words, whatever the sentence wants; only small talk has no such tags.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Final

from tenor.taxonomy.assistant import NO_MATCH, OUTSIDE


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ARTICLE, VERB, MANNER = "B-article", "B-verb", "B-interrogative.manner"
_ARTICLES: Final = frozenset(("a", "an", "the"))
_AUXILIARIES: Final = _words(
    "do does did don't doesn't didn't can could can't couldn't will would won't wouldn't should shall may might must"
)
_INTENDS: Final = _words("want wanna like going gonna trying")
"""Before "to" and another verb these only say that it is wanted."""
_QUESTION_WORDS: Final = {
    "who": "B-interrogative.personal", "who's": "B-interrogative.personal", "whos": "B-interrogative.personal",
    "what": "B-interrogative", "what's": "B-interrogative", "whats": "B-interrogative", "which": "B-interrogative",
    "where": "B-interrogative.location", "where's": "B-interrogative.location", "when": "B-interrogative.time",
    "when's": "B-interrogative.time", "how": MANNER, "how's": MANNER,
}  # fmt: skip
_MEASURES: Final = frozenset(("much", "many", "far", "long", "often", "soon"))
"""After "how" these belong to the question word, as in the white paper's first row."""
_COSTS: Final = frozenset(("is", "are", "was", "were"))
"""After "how much" these are the verb: "how much is sugar"."""
_DEAR: Final = frozenset(("priciest", "costliest", "dearest"))
_CHEAP: Final = frozenset(("cheapest", "cheaper"))
_VERBS: Final = _words(
    "add ask bake book bring build buy call cancel carry change check choose clean convert cook cost cut deliver do "
    "draw drink drive eat exchange explain feed find fit fix fly forget forgot get give go grow have hear help hold "
    "install keep know learn leave like listen look make meet move need open order paint pay pick plant play post "
    "print put read reach recommend remember remind rent repair reserve return run say search see sell send set show "
    "sing sit sleep sound spell start stay stop take talk teach tell think translate travel try turn use visit wait "
    "wake walk wash watch wear write won wondering hoping looking expected"
)
_ALWAYS: Final = _words("tell know think wondering hoping forgot remind translate convert")
"""Hardly ever a noun."""
_BEFORE_VERB: Final = _words("to i we you they please i'd we'd you'll i'll they'll let's lets who didn't don't")
_OPENINGS: Final = _words("please hey hi hello ok okay so um uh well and just now")
_EDGES: Final = string.punctuation.replace("'", "")


def ruled(tokens: Sequence[str], tags: Sequence[str], intent: str) -> tuple[str, ...]:
    """The tags with what the rules settle; `intent` as flows route it."""
    if intent.startswith(("smalltalk.", "universal.")):
        return tuple(tags)
    words = [token.lower().replace("\u2019", "'").strip(_EDGES) for token in tokens]
    made = list(tags)
    opening = next((at for at, word in enumerate(words) if word not in _OPENINGS), 0)
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        if (made[at] == ARTICLE and word not in _ARTICLES) or (made[at] == VERB and _is_auxiliary(words, at)):
            made[at] = OUTSIDE
        elif made[at] != OUTSIDE:
            continue
        elif word in _ARTICLES:
            made[at] = ARTICLE
        elif word in _DEAR:
            made[at] = "B-cost.high"
        elif word in _CHEAP:
            made[at] = "B-cost.low"
        elif intent == NO_MATCH and at == opening and word in _QUESTION_WORDS:
            made[at] = _QUESTION_WORDS[word]
        elif word in _COSTS and words[at - 2 : at] == ["how", "much"] and intent == "price_check":
            made[at] = VERB
        elif before == "how" and word in _MEASURES and made[at - 1] == MANNER:
            made[at] = "I-interrogative.manner"
        elif _is_verb(words, at, opening, intent):
            made[at] = VERB
    return tuple(made)


def _is_auxiliary(words: Sequence[str], at: int) -> bool:
    """Whether another verb is what it stands for ("did it snow"), or an intention only leads to one."""
    if words[at] in _INTENDS:
        return "to" in words[at + 1 : at + 2]
    return words[at] in _AUXILIARIES and at + 1 < len(words)


def _is_verb(words: Sequence[str], at: int, opening: int, intent: str) -> bool:
    word, before = words[at], words[at - 1] if at else ""
    if word not in _VERBS or _is_auxiliary(words, at):
        return False
    if word == "expected":
        return before in ("is", "are", "was", "be")
    if word in _ALWAYS or (word == "looking" and words[at + 1 : at + 2] == ["for"]):
        return True
    return before in _BEFORE_VERB or (intent == NO_MATCH and at == opening)
