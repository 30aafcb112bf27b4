"""Regular expressions that cannot hang a stage.

Python's own back-track: a pattern such as `(a+)+b` takes for ever on a sentence of thirty letters, and no check of the
pattern finds every such case. Here all ways to match are followed at once, character by character (Thompson, 1968), so
the time is at most the length of the text times the size of the pattern, for every pattern and every text. What cannot
be done that way (back-references, looking ahead and behind) is not in the language.

    literals   .   [a-z]  [^0-9]   \\d \\w \\s \\b (and \\D \\W \\S \\B)   ^ $   ( )  (?: )   |   * + ? {2} {2,} {2,5}

Case never matters. Only whether it is found counts, so `*?` is the same as `*`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

LONGEST_PATTERN = 200
LONGEST_TEXT = 2000
"""Characters of a sentence that are looked at."""
MOST_REPEATS = 50
MOST_STEPS = 500

Fits = Callable[[str], bool]
Edge = str
"""`^`, `$`, `b` or `B`."""


@dataclass(slots=True)
class _Step:
    """One step of the compiled pattern: eat a character that fits, or pass an edge, or go on at other steps."""

    to: list[int]
    fits: Fits | None = None
    edge: Edge = ""


class Unfit(ValueError):
    """The pattern cannot be used; `at` is where in it the trouble lies."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


class Expression:
    """A compiled pattern. Raises Unfit when it is none."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        if len(pattern) > LONGEST_PATTERN:
            raise Unfit(f"is longer than {LONGEST_PATTERN} characters", LONGEST_PATTERN)
        self._steps: list[_Step] = []
        tree = _Parser(pattern).parse()
        self._emit(tree)
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

    def _emit(self, tree: _Tree) -> None:
        if len(self._steps) > MOST_STEPS:
            raise Unfit("is too large: fewer or smaller repetitions", 0)
        match tree:
            case _Letter(fits):
                self._steps.append(_Step([len(self._steps) + 1], fits))
            case _Border(edge):
                self._steps.append(_Step([len(self._steps) + 1], edge=edge))
            case _Row(parts):
                for part in parts:
                    self._emit(part)
            case _Choice(options):
                fork = self._add(_Step([]))
                leaving = []
                for option in options:
                    fork.to.append(len(self._steps))
                    self._emit(option)
                    leaving.append(self._add(_Step([])))
                for step in leaving:
                    step.to.append(len(self._steps))
            case _Repeat(part, least, most):
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


@dataclass(frozen=True, slots=True)
class _Letter:
    fits: Fits


@dataclass(frozen=True, slots=True)
class _Border:
    edge: Edge


@dataclass(frozen=True, slots=True)
class _Row:
    parts: tuple[_Tree, ...]


@dataclass(frozen=True, slots=True)
class _Choice:
    options: tuple[_Tree, ...]


@dataclass(frozen=True, slots=True)
class _Repeat:
    part: _Tree
    least: int
    most: int | None


_Tree = _Letter | _Border | _Row | _Choice | _Repeat


def _is_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


_CLASSES: dict[str, Fits] = {"d": str.isdecimal, "w": _is_word, "s": str.isspace}
_SIGNS = {"n": "\n", "t": "\t", "r": "\r"}


def _is_edge(edge: Edge, text: str, at: int) -> bool:
    if edge == "^":
        return at == 0
    if edge == "$":
        return at == len(text)
    inside = (at > 0 and _is_word(text[at - 1])) != (at < len(text) and _is_word(text[at]))
    return inside == (edge == "b")


class _Parser:
    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._depth = 0

    def parse(self) -> _Tree:
        tree = self._choice()
        if self._at < len(self._pattern):
            raise Unfit("has a ) too many", self._at)
        return tree

    def _next(self) -> str:
        return self._pattern[self._at : self._at + 1]

    def _eat(self, sign: str) -> bool:
        if self._pattern.startswith(sign, self._at):
            self._at += len(sign)
            return True
        return False

    def _choice(self) -> _Tree:
        options = [self._row()]
        while self._eat("|"):
            options.append(self._row())
        return options[0] if len(options) == 1 else _Choice(tuple(options))

    def _row(self) -> _Tree:
        parts = []
        while (sign := self._next()) and sign not in "|)":
            parts.append(self._repeated())
        return _Row(tuple(parts))

    def _repeated(self) -> _Tree:
        began = self._at
        part = self._single()
        while sign := self._next():
            if sign in "*+?":
                self._at += 1
                part = _Repeat(part, 1 if sign == "+" else 0, 1 if sign == "?" else None)
            elif sign == "{":
                part = self._counted(part)
            else:
                break
            if isinstance(part, _Repeat) and isinstance(part.part, _Border):
                raise Unfit("repeats an edge", began)
            self._eat("?")
            if self._next() == "+":
                raise Unfit("has a repetition of a repetition without brackets", self._at)
        return part

    def _counted(self, part: _Tree) -> _Tree:
        began = self._at
        close = self._pattern.find("}", began)
        least, comma, most = self._pattern[began + 1 : close].partition(",")
        digits = all(number.isascii() and (number.isdigit() or not number) for number in (least, most))
        if close < 0 or not digits or not (least or (comma and most)):
            raise Unfit("has a { that is no repetition such as {2} or {2,5}", began)
        low = int(least or 0)
        high = int(most) if most else None if comma else low
        if max(low, high or 0) > MOST_REPEATS:
            raise Unfit(f"repeats more than {MOST_REPEATS} times", began)
        if high is not None and high < low:
            raise Unfit("repeats at most fewer times than at least", began)
        self._at = close + 1
        return _Repeat(part, low, high)

    def _single(self) -> _Tree:
        sign = self._next()
        began = self._at
        self._at += 1
        if sign == "(":
            return self._group(began)
        if sign == "[":
            return _Letter(self._set(began))
        if sign == "\\":
            return self._escaped(began)
        if sign in "*+?{":
            raise Unfit(f"has a {sign} with nothing before it to repeat", began)
        if sign in "^$":
            return _Border(sign)
        if sign == ".":
            return _Letter(lambda letter: letter != "\n")
        return _Letter(sign.lower().__eq__)

    def _group(self, began: int) -> _Tree:
        if self._eat("?") and not self._eat(":"):
            raise Unfit("uses (?...): only plain brackets and (?:...) are known here", began)
        self._depth += 1
        if self._depth > 20:
            raise Unfit("has brackets nested deeper than 20", began)
        inner = self._choice()
        self._depth -= 1
        if not self._eat(")"):
            raise Unfit("has a ( that is not closed", began)
        return inner

    def _escaped(self, began: int) -> _Tree:
        sign = self._next()
        self._at += 1
        if sign in ("b", "B"):
            return _Border(sign)
        return _Letter(self._letter_of(sign, began))

    def _letter_of(self, sign: str, began: int) -> Fits:
        """What `\\sign` stands for."""
        if sign in _CLASSES:
            return _CLASSES[sign]
        if sign and sign.lower() in _CLASSES:
            unlike = _CLASSES[sign.lower()]
            return lambda letter: not unlike(letter)
        if not sign or (sign.isalnum() and sign not in _SIGNS):
            raise Unfit(f"has \\{sign}, which is not known here" if sign else "ends with \\", began)
        return _SIGNS.get(sign, sign).__eq__

    def _set(self, began: int) -> Fits:
        negated = self._eat("^")
        fits: list[Fits] = []
        while (sign := self._next()) != "]" or not fits:
            if not sign:
                raise Unfit("has a [ that is not closed", began)
            at = self._at
            self._at += 1
            if sign == "\\":
                escaped = self._next()
                self._at += 1
                fits.append(self._letter_of(escaped, at))
            elif self._next() == "-" and self._pattern[self._at + 1 : self._at + 2] not in ("]", ""):
                last = self._pattern[self._at + 1]
                self._at += 2
                if last < sign or last == "\\":
                    raise Unfit(f"has {sign}-{last}, which is no range", at)
                fits.append(_between(sign, last))
            else:
                fits.append(sign.lower().__eq__)
        self._at += 1
        return lambda letter: any(fit(letter) for fit in fits) != negated


def _between(first: str, last: str) -> Fits:
    return lambda letter: first <= letter <= last or first <= letter.upper() <= last
