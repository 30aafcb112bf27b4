"""Regular expressions that cannot hang a stage.

Python's own back-track: a pattern such as `(a+)+b` takes for ever on a sentence of thirty letters, and no check of the
pattern finds every such case. Here all ways to match are followed at once, character by character (Thompson, 1968), so
the time is at most the length of the text times the size of the pattern, for every pattern and every text. What cannot
be done that way (back-references, looking ahead and behind) is not in the language.

    literals   .   [a-z]  [^0-9]   \\d \\w \\s \\b (and \\D \\W \\S \\B)   ^ $   ( )  (?: )   |   * + ? {2} {2,} {2,5}

Case never matters. Only whether it is found counts, so `*?` is the same as `*`.
"""

from __future__ import annotations

from dataclasses import dataclass

from nlp.rules.pattern import Border, Choice, Edge, Fits, Letter, Repeat, Row, Tree, Unfit, is_word, parse

LONGEST_TEXT = 2000
"""Characters of a sentence that are looked at."""
MOST_STEPS = 500


@dataclass(slots=True)
class _Step:
    """One step of the compiled pattern: eat a character that fits, or pass an edge, or go on at other steps."""

    to: list[int]
    fits: Fits | None = None
    edge: Edge = ""


class Expression:
    """A compiled pattern. Raises Unfit when it is none."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._steps: list[_Step] = []
        self._emit(parse(pattern))
        self._end = len(self._steps)
        if self.found_in(""):
            raise Unfit("matches every sentence, since it matches nothing at all", 0)

    def found_in(self, text: str) -> bool:
        text = text[:LONGEST_TEXT].lower()
        now: list[int] = []
        for at in range(len(text) + 1):
            places = self._reach([*now, 0], text, at)
            if self._end in places:
                return True
            if at == len(text):
                return False
            letter = text[at]
            now = [
                step.to[0] for place in places if (step := self._steps[place]).fits is not None and step.fits(letter)
            ]
        return False

    def _reach(self, places: list[int], text: str, at: int) -> set[int]:
        """Where one gets from these steps without eating a character."""
        reached: set[int] = set()
        waiting = list(places)
        while waiting:
            place = waiting.pop()
            if place in reached:
                continue
            reached.add(place)
            if place < len(self._steps):
                step = self._steps[place]
                if step.fits is None and (not step.edge or _is_edge(step.edge, text, at)):
                    waiting.extend(step.to)
        return reached

    def _emit(self, tree: Tree) -> None:
        if len(self._steps) > MOST_STEPS:
            raise Unfit("is too large: fewer or smaller repetitions", 0)
        match tree:
            case Letter(fits):
                self._steps.append(_Step([len(self._steps) + 1], fits))
            case Border(edge):
                self._steps.append(_Step([len(self._steps) + 1], edge=edge))
            case Row(parts):
                for part in parts:
                    self._emit(part)
            case Choice(options):
                fork = self._add(_Step([]))
                leaving = []
                for option in options:
                    fork.to.append(len(self._steps))
                    self._emit(option)
                    leaving.append(self._add(_Step([])))
                for step in leaving:
                    step.to.append(len(self._steps))
            case Repeat(part, least, most):
                for _ in range(least):
                    self._emit(part)
                if most is None:
                    begin = len(self._steps)
                    fork = self._add(_Step([begin + 1]))
                    self._emit(part)
                    self._steps.append(_Step([begin]))
                    fork.to.append(len(self._steps))
                    return
                forks = []
                for _ in range(most - least):
                    forks.append(self._add(_Step([len(self._steps) + 1])))
                    self._emit(part)
                for fork in forks:
                    fork.to.append(len(self._steps))

    def _add(self, step: _Step) -> _Step:
        self._steps.append(step)
        return step


def _is_edge(edge: Edge, text: str, at: int) -> bool:
    if edge == "^":
        return at == 0
    if edge == "$":
        return at == len(text)
    inside = (at > 0 and is_word(text[at - 1])) != (at < len(text) and is_word(text[at]))
    return inside == (edge == "b")
