"""Which things of a catalogue a shopper means. All words must fit: an unknown thing is none, never a wrong one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from importlib.resources import files

from rapidfuzz import process
from rapidfuzz.distance import OSA

from dialog.fulfilment.sample.words import content, words
from dialog.values.misspelling import is_misspelt, spoken
from dialog.values.shop.catalogue import SHORTEST_SOUND

SHORTEST_MISSPELT = 4
LONG_WORD = 8
VAGUE = frozenset(("bar", "set", "kit", "maker", "machine", "stick", "pack", "medicine", "animal", "station", "club"))
"""Words at the end of many names that name nothing alone: gold bars are no granola bars."""


class Matcher:
    """Phrases, and the things they name. `match` gives the things whose phrase is said exactly, else those whose
    words contain what was said and end alike; misspelt words are mended first."""

    def __init__(self, naming: Callable[[list[str]], list[str]] = content) -> None:
        self._naming = naming
        """Which of the words name the thing."""
        self._phrases: dict[frozenset[str], set[int]] = {}
        self._words: dict[str, set[int]] = {}
        self._heads: dict[str, set[int]] = {}
        self._vocabulary: list[str] = []
        self._by_sound: dict[str, str] = {}

    def add(self, thing: int, phrases: Iterable[str], exactly: Iterable[str] = (), also: Iterable[str] = ()) -> None:
        """What a thing is called. A phrase of `exactly` names it only as a whole (a toy car is no car); words of
        `also` may stand beside a phrase but do not name the thing (`for iPhone`)."""
        for phrase in phrases:
            self._add_phrase(thing, phrase)
            self._add_words(thing, phrase)
            for head in words(phrase)[-1:]:
                self._heads.setdefault(head, set()).add(thing)
        for phrase in exactly:
            self._add_phrase(thing, phrase)
            self._add_words(thing, phrase)
        for phrase in also:
            self._add_words(thing, phrase)
        self._vocabulary.clear()

    def _add_phrase(self, thing: int, phrase: str) -> None:
        if said := words(phrase):
            self._phrases.setdefault(frozenset(said), set()).add(thing)
            self._phrases.setdefault(frozenset(self._naming(said) or said), set()).add(thing)

    def _add_words(self, thing: int, phrase: str) -> None:
        for word in words(phrase):
            self._words.setdefault(word, set()).add(thing)

    def says(self, text: str) -> bool:
        """Whether the words, all of them, are what something is called: `red wine` is, `red jeans` is not."""
        return frozenset(words(text)) in self._phrases

    def mends(self, word: str) -> bool:
        """Whether the word would pass for a misspelt one if nobody knew better."""
        return word not in self._words and self._alike(word) is not None

    def match(self, text: str) -> list[int]:
        return self.exact(text) or self.loose(text)

    def exact(self, text: str) -> list[int]:
        """Things that are called just that."""
        said = words(text)
        named = self._naming(said)
        alone = [word for word in said if word in named or frozenset([word]) in self._phrases]  # two oranges
        for attempt in (said, self._joined(said), named, alone):
            if attempt and (found := self._phrases.get(frozenset(attempt))):
                return sorted(found)
        return []

    def loose(self, text: str) -> list[int]:
        """Things whose names contain what was said, then the same after words were joined (`lap top`), split
        (`oatmilk`) or spelt as they should be."""
        named = self._naming(words(text))
        if not named:
            return []
        if found := self._within(named):
            return found
        for attempt in (self._joined(named), self._split(named), self._spelt(named), self._joined_and_spelt(named)):
            if attempt and (right := self._phrases.get(frozenset(attempt)) or self._within(attempt)):
                return sorted(right)
        return []

    def _within(self, named: Sequence[str]) -> list[int]:
        if len(named) == 1 and named[0] in VAGUE:
            return []
        things = self._heads.get(named[-1], set()) & self._words.get(named[0], set())
        for word in named[1:]:
            things = things & self._words.get(word, set())
        return sorted(things)

    def _joined(self, named: list[str]) -> list[str]:
        joined, index = [], 0
        while index < len(named):
            pair = "".join(named[index : index + 2])
            if index + 1 < len(named) and pair in self._words:
                joined.append(pair)
                index += 2
            else:
                joined.append(named[index])
                index += 1
        return joined if len(joined) < len(named) else []

    def _split(self, named: list[str]) -> list[str]:
        split: list[str] = []
        for word in named:
            cuts = [] if word in self._words else range(3, len(word) - 2)
            cut = next((at for at in cuts if word[:at] in self._words and word[at:] in self._words), 0)
            split += [word[:cut], word[cut:]] if cut else [word]
        return split if len(split) > len(named) else []

    def _joined_and_spelt(self, named: list[str]) -> list[str]:
        """`hed phones`; words that are known on their own are meant on their own."""
        if len(named) != 2 or all(word in self._words for word in named):
            return []
        right = self._nearest("".join(named), most=1)
        return [right] if right else []

    def _spelt(self, named: list[str]) -> list[str]:
        spelt = []
        for word in named:
            right = word if word in self._words else self._nearest(word)
            if right is None:
                return []
            spelt.append(right)
        return spelt

    def _nearest(self, word: str, most: int = 2) -> str | None:
        return None if word in not_misspelt() else self._alike(word, most)

    def _alike(self, word: str, most: int = 2) -> str | None:
        if len(word) < SHORTEST_MISSPELT or not word.isalpha():
            return None
        if not self._vocabulary:
            self._vocabulary.extend(known for known in self._words if len(known) >= SHORTEST_MISSPELT)
            self._by_sound = {spoken(known): known for known in self._vocabulary}
        if len(word) >= SHORTEST_SOUND and (alike := self._by_sound.get(spoken(word))):
            return alike
        most = most if len(word) >= LONG_WORD else 1
        found = process.extractOne(word, self._vocabulary, scorer=OSA.distance, score_cutoff=most)
        if found is None or not is_misspelt(word, str(found[0])):
            return None
        return str(found[0])


@lru_cache(1)
def not_misspelt() -> frozenset[str]:
    """English words a letter away from a product: a horse is no hose."""
    text = files("dialog.fulfilment.sample").joinpath("data/not_misspelt.txt").read_text("utf-8")
    return frozenset(text.split())
