"""The text of a regular expression, taken apart. expression.py says what may be in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

LONGEST = 200
MOST_REPEATS = 50

Fits = Callable[[str], bool]
Edge = str
"""`^`, `$`, `b` or `B`."""


class Unfit(ValueError):
    """The pattern cannot be used; `at` is where in it the trouble lies."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


@dataclass(frozen=True, slots=True)
class Letter:
    fits: Fits


@dataclass(frozen=True, slots=True)
class Border:
    edge: Edge


@dataclass(frozen=True, slots=True)
class Row:
    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    options: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    part: Tree
    least: int
    most: int | None


Tree = Letter | Border | Row | Choice | Repeat


def is_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


_CLASSES: dict[str, Fits] = {"d": str.isdecimal, "w": is_word, "s": str.isspace}
_SIGNS = {"n": "\n", "t": "\t", "r": "\r"}


def parse(pattern: str) -> Tree:
    """Raises Unfit when the text is no expression that we know."""
    if len(pattern) > LONGEST:
        raise Unfit(f"is longer than {LONGEST} characters", LONGEST)
    return _Parser(pattern).parse()


class _Parser:
    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._depth = 0

    def parse(self) -> Tree:
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

    def _choice(self) -> Tree:
        options = [self._row()]
        while self._eat("|"):
            options.append(self._row())
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def _row(self) -> Tree:
        parts = []
        while (sign := self._next()) and sign not in "|)":
            parts.append(self._repeated())
        return Row(tuple(parts))

    def _repeated(self) -> Tree:
        began = self._at
        part = self._single()
        while sign := self._next():
            if sign in "*+?":
                self._at += 1
                part = Repeat(part, 1 if sign == "+" else 0, 1 if sign == "?" else None)
            elif sign == "{":
                part = self._counted(part)
            else:
                break
            if isinstance(part, Repeat) and isinstance(part.part, Border):
                raise Unfit("repeats an edge", began)
            self._eat("?")
            if self._next() == "+":
                raise Unfit("has a repetition of a repetition without brackets", self._at)
        return part

    def _counted(self, part: Tree) -> Tree:
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
        return Repeat(part, low, high)

    def _single(self) -> Tree:
        sign = self._next()
        began = self._at
        self._at += 1
        if sign == "(":
            return self._group(began)
        if sign == "[":
            return Letter(self._set(began))
        if sign == "\\":
            return self._escaped(began)
        if sign in "*+?{":
            raise Unfit(f"has a {sign} with nothing before it to repeat", began)
        if sign in "^$":
            return Border(sign)
        if sign == ".":
            return Letter(lambda letter: letter != "\n")
        return Letter(sign.lower().__eq__)

    def _group(self, began: int) -> Tree:
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

    def _escaped(self, began: int) -> Tree:
        sign = self._next()
        self._at += 1
        if sign in ("b", "B"):
            return Border(sign)
        return Letter(self._letter_of(sign, began))

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
