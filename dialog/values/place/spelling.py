"""Which name a misspelling or a recogniser's mistake stands for."""

from __future__ import annotations

import re

from rapidfuzz import fuzz, process

from dialog.values.place.gazetteer import LARGE, Gazetteer, Place

SHORTEST_SOUND = 4
"""Consonants a name must have to be known by its sound: fewer are in too many phrases."""
SOUND_SCORE = 0.7
HEARD_CUT_OFF, HEARD_WORD_CUT_OFF = 62, 70
"""How alike the spelling must be as well: "claims" has the consonants of Kalamazoo. A single
word was less likely cut and joined, so it must be nearer."""
SAME_SOUND = 96.0
"""How near a name counts that has the consonants of the words: of Pittsburg and Pittsburgh the larger is meant."""
HEARD_PEOPLE = 60_000
"""Smaller cities are not known by their sound."""
STRICTER = 6
"""How much nearer the spelling of a small city must be."""
OTHER_BEGINNING = 91
"""Below this a name must begin with the same sound: people know how a city begins."""

_SOUNDS = (
    (re.compile(r"ph"), "f"),
    (re.compile(r"burgh$"), "burg"),
    (re.compile(r"gh"), ""),
    (re.compile(r"^(?:kn|gn)"), "n"),
    (re.compile(r"^wr"), "r"),
    (re.compile(r"tch|ch|sh|tio"), "x"),
    (re.compile(r"dg|g(?=[ei])"), "j"),
    (re.compile(r"c(?=[eiy])"), "s"),
    (re.compile(r"ck|[cq]"), "k"),
    (re.compile(r"th"), "t"),
    (re.compile(r"z"), "s"),
    (re.compile(r"d"), "t"),
    (re.compile(r"x"), "ks"),
    (re.compile(r"[aeiouywh]"), ""),
    (re.compile(r"(.)\1+"), r"\1"),
)


def sound(words: list[str]) -> str:
    """The consonants as they are heard, across the blanks: "dull ooth" and "duluth" are the same."""
    key = ""
    for word in words:
        for pattern, letter in _SOUNDS[:-2]:
            word = pattern.sub(letter, word)
        key += word
    for pattern, letter in _SOUNDS[-2:]:
        key = pattern.sub(letter, key)
    return key


def misspelt(
    words: list[str], known: Gazetteer, names: dict[int, list[str]], cut_off: int, state: str = ""
) -> tuple[list[Place], float] | None:
    """The places whose name is spelt most like the words, without their blanks, and how alike it is; of a state, if
    one is said."""
    compact = "".join(words)
    if not 4 <= len(compact) <= 24:
        return None
    beginning = _beginning(compact)
    best: tuple[float, str, float] | None = None
    reach = 2 if len(compact) >= 7 else 1
    for length in range(len(compact) - reach, len(compact) + reach + 1):
        for name, score, _ in process.extract(
            compact, names.get(length, ()), scorer=fuzz.ratio, score_cutoff=cut_off, limit=3
        ):
            if state and all(place.state != state for place in known.compact[name]):
                continue
            people = known.compact[name][0].population
            if people < LARGE and score < cut_off + STRICTER:
                continue
            if score < OTHER_BEGINNING and _beginning(name) != beginning:
                continue
            # Of two spellings that are as near, the larger city is meant.
            nearness = score if people < HEARD_PEOPLE else max(score, _same_sound(words, name))
            weighed = nearness + min(people, 2_000_000) / 400_000
            if best is None or weighed > best[0]:
                best = (weighed, name, score)
    return None if best is None else (known.compact[best[1]], round(best[2] / 100, 3))


def _same_sound(words: list[str], name: str) -> float:
    heard = sound(words)
    return SAME_SOUND if len(heard) >= SHORTEST_SOUND and sound([name]) == heard else 0.0


def misheard(words: list[str], known: Gazetteer) -> tuple[list[Place], float] | None:
    """The large city that the words sound like."""
    key = sound(words)
    if len(key) < SHORTEST_SOUND:
        return None
    compact = "".join(words)
    name = _sounds(known).get((_beginning(words[0]), key))
    if name is None or fuzz.ratio(compact, name) < (HEARD_CUT_OFF if len(words) > 1 else HEARD_WORD_CUT_OFF):
        return None
    return known.compact[name], SOUND_SCORE


def _sounds(known: Gazetteer) -> dict[tuple[str, str], str]:
    """Names without blanks by first sound and consonants; made when first needed."""
    if not known.sounds:
        for name, places in known.places.items():
            words = name.split()
            key = sound(words)
            if places[0].population >= HEARD_PEOPLE and len(key) >= SHORTEST_SOUND and not known.is_ordinary(name):
                known.sounds.setdefault((_beginning(words[0]), key), name.replace(" ", ""))
    return known.sounds


def _beginning(word: str) -> str:
    """How a word begins: its consonant as it sounds, or any vowel."""
    return sound([word])[:1] if word[0] not in "aeiou" else "vowel"
