"""A condition of a flow: `results > 1 and not location`, `exists when`, `intent == "weather.snow"`.

Python's grammar parses it; what it may contain is listed here: names, parts of names, literals, comparisons, and/or/not
and `exists`. A name without a value is nothing: it equals only nothing and is neither larger nor smaller.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Final

from dialog.flow.operands import COMPARISONS, MOST_ITEMS, Missing, exists, holds, look_up
from tenor.errors import BadInput

LONGEST_SOURCE: Final = 500
LARGEST_NUMBER: Final = 10**12
_ALLOWED: Final = "a condition has names, texts in quotes, numbers, comparisons, and, or, not, in, exists"
_EXISTS: Final = re.compile(r"""("[^"]*"|'[^']*')|\bexists\s+([^\W\d]\w*(?:\.\w+)*)""")
_OPERATORS: Final[dict[type[ast.cmpop], str]] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "lteq",
    ast.Gt: "gt",
    ast.GtE: "gteq",
    ast.In: "in",
    ast.NotIn: "notin",
    ast.Is: "eq",
    ast.IsNot: "ne",
}
_WORDS: Final = {"true": True, "yes": True, "false": False, "no": False, "none": None}

Context = Mapping[str, Any]
_Part = Callable[[Context], Any]


class ExpressionFault(BadInput):
    """A text that is no condition, or says more than one may."""

    def __init__(self, message: str) -> None:
        super().__init__(message, _ALLOWED)


class Expression:
    """A condition that was parsed and may be evaluated any number of times. Two with the same source are equal."""

    __slots__ = ("_part", "names", "source")

    def __init__(self, source: str, names: frozenset[str], part: _Part) -> None:
        self.source = source
        self.names = names
        """The variables it asks about."""
        self._part = part

    @classmethod
    def parse(cls, source: str) -> Expression:
        """The condition; ExpressionFault when it is none, or does what conditions may not."""
        if not source.strip():
            raise ExpressionFault("a condition is empty")
        if len(source) > LONGEST_SOURCE:
            raise ExpressionFault(f"a condition is longer than {LONGEST_SOURCE} characters")
        python = _EXISTS.sub(lambda found: found[1] or f"exists({found[2]})", " ".join(source.split()))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SyntaxWarning)
                tree = ast.parse(python, mode="eval")
            parser = _Parser()
            part = parser.part(tree.body)
        except SyntaxError as error:
            if "=" in python and "==" not in python:
                raise ExpressionFault(f"{source!r} is no condition: equal is written ==") from None
            raise ExpressionFault(f"{source!r} is no condition: {error.msg}") from None
        except (RecursionError, MemoryError, ValueError):
            raise ExpressionFault("a condition is nested too deeply or has characters that it may not") from None
        return cls(source, frozenset(parser.names), part)

    def evaluate(self, context: Context) -> bool:
        """Whether it holds; nothing is raised."""
        return holds(self._part(context))

    def __repr__(self) -> str:
        return f"Expression({self.source!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and other.source == self.source

    def __hash__(self) -> int:
        return hash(self.source)


class _Parser:
    """Makes functions of Python's tree, and refuses what is not listed here."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def part(self, node: ast.expr) -> _Part:
        match node:
            case ast.BoolOp(op=op, values=values):
                return self._joined([self.part(value) for value in values], isinstance(op, ast.And))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self.part(operand)
                return lambda context: not holds(inner(context))
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                return self._literal(-value)
            case ast.Compare():
                return self._compare(node)
            case ast.Constant(value=str() | bool() | int() | float() | None as value):
                return self._literal(value)
            case ast.Name(id=name):
                return self._name(name)
            case ast.Attribute(value=ast.Name() | ast.Attribute() as whole, attr=key) if not key.startswith("_"):
                inner = self.part(whole)
                return lambda context: look_up(inner(context), key, key)
            case ast.Tuple(elts=elements) | ast.List(elts=elements) if len(elements) <= MOST_ITEMS:
                parts = [self.part(element) for element in elements]
                return lambda context: [part(context) for part in parts]
            case ast.Call(func=ast.Name(id="exists"), args=[ast.Name() | ast.Attribute() as named], keywords=[]):
                inner = self.part(named)
                return lambda context: exists(inner(context))
        raise ExpressionFault(f"`{_written(node)}` is not allowed in a condition")

    def _joined(self, parts: list[_Part], everyone: bool) -> _Part:
        if everyone:
            return lambda context: all(holds(part(context)) for part in parts)
        return lambda context: any(holds(part(context)) for part in parts)

    def _literal(self, value: Any) -> _Part:
        if isinstance(value, int | float) and not abs(value) <= LARGEST_NUMBER:
            raise ExpressionFault("a number in a condition is too large")
        return lambda _: value

    def _name(self, name: str) -> _Part:
        if name.lower() in _WORDS:
            return self._literal(_WORDS[name.lower()])
        if name.startswith("_"):
            raise ExpressionFault(f"{name!r} is no name of a value: it begins with _")
        self.names.add(name)
        return lambda context: context.get(name, Missing(name))

    def _compare(self, node: ast.Compare) -> _Part:
        first = self.part(node.left)
        pairs = zip(node.ops, node.comparators, strict=True)
        rest = [(COMPARISONS[_OPERATORS[type(op)]], self.part(right)) for op, right in pairs]

        def compare(context: Context) -> bool:
            left = first(context)
            for test, part in rest:
                right = part(context)
                if not test(left, right):
                    return False
                left = right
            return True

        return compare


def _written(node: ast.expr) -> str:
    try:
        return ast.unparse(node)[:60]
    except (RecursionError, ValueError):
        return type(node).__name__
