"""Names of a catalogue, and which of them a few words mean."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from rapidfuzz import fuzz, process

from dialog.values.misspelling import is_misspelt, spoken
from dialog.values.tokens import tokenise

CUT_OFF = 82
SHORTEST = 4
"""Letters from which a misspelling is guessed,"""
SHORTEST_SOUND = 5
"""and from which what sounds the same is the same, however it is spelt."""
SOUND_SCORE = 0.9


class Catalogue:
    """Looks names up as they are said: singular or plural, with or without blanks, misspelt."""

    def __init__(self, names: Iterable[str], ordinary: Collection[str] = ()) -> None:
        """`ordinary` are words that are never another one misspelt."""
        self._ordinary = ordinary
        self.names: dict[tuple[str, ...], str] = {}
        for name in names:
            key = stems(name)
            if key:
                self.names.setdefault(key, name)
        self.compact = {"".join(key): name for key, name in self.names.items()}
        self.by_length: dict[int, list[str]] = {}
        for compact in self.compact:
            self.by_length.setdefault(len(compact), []).append(compact)
        self.by_sound = {spoken(compact): compact for compact in self.compact}
        self.longest = max((len(key) for key in self.names), default=0)
        self.first_words = frozenset(key[0] for key in self.names)

    def exact(self, words: tuple[str, ...]) -> str | None:
        """The name with exactly these stems."""
        return self.names.get(words) or self.compact.get("".join(words))

    def knows(self, text: str) -> bool:
        """Whether a name is just this, singular or plural."""
        return self.exact(stems(text)) is not None

    def like(self, words: tuple[str, ...]) -> tuple[str, float] | None:
        """The name that is spelt most like these stems, if one is near."""
        compact = "".join(words)
        if len(compact) < SHORTEST or compact in self._ordinary:
            return None
        if len(compact) >= SHORTEST_SOUND and (alike := self.by_sound.get(spoken(compact))):
            return self.compact[alike], SOUND_SCORE
        near = [name for length in range(len(compact) - 2, len(compact) + 3) for name in self.by_length.get(length, ())]
        best = process.extractOne(compact, near, scorer=fuzz.ratio, score_cutoff=CUT_OFF)
        if best is None or not is_misspelt(compact, best[0]):
            return None
        return self.compact[best[0]], round(best[1] / 100, 3)


def stems(text: str) -> tuple[str, ...]:
    return tuple(stem(token.key) for token in tokenise(text))


def stem(word: str) -> str:
    """Without the plural: "berries" and "berry", "shoes" and "shoe", "dishes" and "dish" are the same."""
    if word == "tvs":
        return "tv"
    if len(word) < 4 or word.endswith("ss") or not word.endswith("s"):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes", "oes")) and not word.endswith("shoes"):
        return word[:-2]
    return word[:-1]
