"""Topics the assistant does not talk about: by the examples of its flows, and by what the understander saw.

An example of a topic matches a line that has its content words next to each other, in any order; of three and more,
others may stand between them. An example with fewer than two ("my rights") matches only as it stands, articles aside.
`a|b` in an example is either word. A line with a phrase of `unless` is none of the topic, whatever else is in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from dialog.flow.model import Assistant, GuardedTopic
from dialog.understanding.keywords import normal
from dialog.values.tokens import word_set

_COMMON: Final = word_set(
    "this that these those it its i i'm me my we us our you your he she his her they them him to of on in at by for "
    "with from is are was were be am do does did have has had can could will would should shall may might must and or "
    "but so if as not no what which who how when where why there here just please tell give get any some now want "
    "about really very so actually going gonna ever still also too one two three four five six"
)
_ARTICLES: Final = word_set("a an the")
_SUFFIXES: Final = ("ing", "ies", "es", "ed", "s", "e")
SLACK: Final = 2
"""Content words that may stand between the three or more of an example."""


class _Example(NamedTuple):
    words: tuple[frozenset[str], ...]
    """All of them, if only the whole phrase will do; else the content words. Of each, any will do."""
    phrase: bool
    window: int


_ByWord = Mapping[str, Sequence[_Example]]
"""Examples by a word that they cannot do without."""


def guarded(assistant: Assistant, text: str, seen: str = "") -> GuardedTopic | None:
    """The topic that a line belongs to, if one is guarded. `seen`: what the understander takes it for."""
    said = [word for word in normal(text).split() if word not in _ARTICLES]
    words = [_stem(word) for word in said]
    content = [_stem(word) for word in said if word not in _COMMON]
    there = frozenset(words)
    for topic, examples, exceptions in _examples(assistant.guards):
        candidates = _with_word(examples, there)
        if not candidates or any(_stands(one.words, words) for one in _with_word(exceptions, there)):
            continue
        for example in candidates:
            if all(not word.isdisjoint(there) for word in example.words) and (
                _stands(example.words, words) if example.phrase else _near(example, content)
            ):
                return topic
    return next((one for one in assistant.guards if one.name == seen and not _excepted(assistant, one, words)), None)


def _excepted(assistant: Assistant, topic: GuardedTopic, words: Sequence[str]) -> bool:
    # By name: flows that were loaded twice share the examples of the first.
    exceptions = {one.name: exceptions for one, _, exceptions in _examples(assistant.guards)}[topic.name]
    return any(_stands(one.words, words) for one in _with_word(exceptions, frozenset(words)))


def _with_word(examples: _ByWord, there: frozenset[str]) -> list[_Example]:
    """Those of which the line has the word that fewest will do for: a line has few words, a topic many examples."""
    return [example for word in there for example in examples.get(word, ())]


def _stands(phrase: Sequence[frozenset[str]], words: Sequence[str]) -> bool:
    size = len(phrase)
    return any(
        all(word in wanted for wanted, word in zip(phrase, words[at : at + size], strict=True))
        for at in range(len(words) - size + 1)
    )


def _near(example: _Example, words: Sequence[str]) -> bool:
    windows = (words[at : at + example.window] for at in range(max(1, len(words) - len(example.words) + 1)))
    return any(all(not wanted.isdisjoint(window) for wanted in example.words) for window in windows)


@lru_cache(maxsize=16)
def _examples(
    guards: tuple[GuardedTopic, ...],
) -> tuple[tuple[GuardedTopic, _ByWord, _ByWord], ...]:
    """Each topic with its examples and its exceptions."""
    return tuple(
        (
            topic,
            _by_word(_example(like) for like in topic.like if normal(like)),
            _by_word(_example(unless, phrase=True) for unless in topic.unless if normal(unless)),
        )
        for topic in guards
    )


def _by_word(examples: Iterable[_Example]) -> _ByWord:
    found: dict[str, list[_Example]] = {}
    for example in examples:
        for word in min(example.words, key=len, default=()):
            found.setdefault(word, []).append(example)
    return found


def _example(like: str, *, phrase: bool = False) -> _Example:
    words = [word for word in normal(like).split() if not _ARTICLES.issuperset(word.split("|"))]
    content = tuple(_either(word) for word in words if not _COMMON.issuperset(word.split("|")))
    if phrase or len(content) < 2:
        return _Example(tuple(_either(word) for word in words), True, len(words))
    return _Example(content, False, len(content) + (SLACK if len(content) > 2 else 0))


def _either(words: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in words.split("|") if word)


def _stem(word: str) -> str:
    word = word.removesuffix("'s")
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            return word[: -len(suffix)]
    return word
