"""A text of the assistant with values in it: `In {{location}}, {{when}}: {{result.high|number}} degrees.`

Jinja2 parses it; what it may contain is listed here, and our own few functions carry it out, so that a template can
neither run code nor take long: there are no calls, no loops, no imports, and no arithmetic but plus and minus.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from jinja2 import Environment, TemplateSyntaxError, nodes

from dialog.flow.filters import ARGUMENTS, FILTERS
from dialog.flow.operands import COMPARISONS, MOST_ITEMS, Missing, exists, holds, look_up, number, said
from tenor.errors import BadInput
from tenor.yaml.nodes import meant

LONGEST_SOURCE: Final = 4_000
"""Characters of a template."""
LONGEST: Final = 8_000
"""Characters of what it renders to: nobody listens to more."""
LARGEST_NUMBER: Final = 10**12
LONGEST_LITERAL: Final = 500
DEEPEST: Final = 40
"""Levels of an expression."""

Context = Mapping[str, Any]
Report = Callable[[str], None]
_Part = Callable[[Context], Any]

_ENVIRONMENT: Final = Environment(keep_trailing_newline=True, autoescape=False, extensions=())
_ALLOWED: Final = "a template has values, their parts, if/else, comparisons, and/or/not, ~, + and - and filters"


class TemplateFault(BadInput):
    """A text that is no template, or says more than one may."""

    def __init__(self, message: str, line: int = 1) -> None:
        super().__init__(message, _ALLOWED)
        self.line = line


class Template:
    """A text that was parsed and may be rendered any number of times. Two with the same source are equal."""

    __slots__ = ("_write", "names", "needed", "source")

    def __init__(
        self, source: str, names: frozenset[str], needed: frozenset[str], write: Callable[[Context, _Output], None]
    ) -> None:
        self.source = source
        self.names = names
        """The variables it uses."""
        self.needed = needed
        """Those of them that it has no other text for: not under `default`, and not only asked about."""
        self._write = write

    @classmethod
    def parse(cls, source: str) -> Template:
        """The template; TemplateFault when it is none, or does what templates may not."""
        if len(source) > LONGEST_SOURCE:
            raise TemplateFault(f"longer than {LONGEST_SOURCE:,} characters")
        try:
            tree = _ENVIRONMENT.parse(source)
            parser = _Parser()
            write = parser.body(tree.body)
        except TemplateSyntaxError as error:
            raise TemplateFault(f"not a template: {error.message}", error.lineno) from None
        except RecursionError:
            raise TemplateFault("nested too deeply") from None
        return cls(source, frozenset(parser.names), frozenset(parser.needed), write)

    def render(self, context: Context, missing: Report | None = None) -> str:
        """The text. A value that is not there leaves nothing, and `missing` is told its name; nothing is raised."""
        output = _Output(missing)
        self._write(context, output)
        return output.text()

    def __repr__(self) -> str:
        return f"Template({self.source!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Template) and other.source == self.source

    def __hash__(self) -> int:
        return hash(self.source)


class _Output:
    """What was written so far, never more than LONGEST."""

    def __init__(self, missing: Report | None) -> None:
        self._missing = missing
        self._parts: list[str] = []
        self._left = LONGEST

    def add(self, value: Any) -> None:
        if isinstance(value, Missing) and self._missing is not None:
            self._missing(value.path)
        text = said(value)[: self._left]
        self._left -= len(text)
        self._parts.append(text)

    def add_text(self, text: str) -> None:
        self._parts.append(text[: self._left])
        self._left -= len(self._parts[-1])

    def text(self) -> str:
        return "".join(self._parts)


class _Parser:
    """Makes functions of Jinja's tree, and refuses what is not listed here."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.needed: set[str] = set()
        self._asked = 0
        """Inside of how many conditions and defaults we are: a name there need not have a value."""
        self._depth = 0

    def body(self, parts: list[nodes.Node]) -> Callable[[Context, _Output], None]:
        writers = [self._statement(part) for part in parts]

        def write(context: Context, output: _Output) -> None:
            for writer in writers:
                writer(context, output)

        return write

    def _statement(self, node: nodes.Node) -> Callable[[Context, _Output], None]:
        if isinstance(node, nodes.Output):
            return self.body(list(node.nodes))
        if isinstance(node, nodes.TemplateData):
            text = node.data
            return lambda _, output: output.add_text(text)
        if isinstance(node, nodes.If):
            return self._if(node)
        if isinstance(node, nodes.Expr):
            part = self._expression(node)
            return lambda context, output: output.add(part(context))
        raise _refused(node)

    def _if(self, node: nodes.If) -> Callable[[Context, _Output], None]:
        ways = [(self._condition(one.test), self.body(one.body)) for one in (node, *node.elif_)]
        otherwise = self.body(node.else_)

        def write(context: Context, output: _Output) -> None:
            for condition, way in ways:
                if holds(condition(context)):
                    way(context, output)
                    return
            otherwise(context, output)

        return write

    def _condition(self, node: nodes.Node) -> _Part:
        self._asked += 1
        part = self._expression(node)
        self._asked -= 1
        return part

    def _expression(self, node: nodes.Node) -> _Part:
        method = _EXPRESSIONS.get(type(node))
        if method is None:
            raise _refused(node)
        if self._depth == DEEPEST:
            raise TemplateFault(f"nested deeper than {DEEPEST} levels", node.lineno)
        self._depth += 1
        part = method(self, node)
        self._depth -= 1
        return part

    def _name(self, node: nodes.Name) -> _Part:
        name = _plain_name(node.name, node)
        self.names.add(name)
        if not self._asked:
            self.needed.add(name)
        return lambda context: context.get(name, Missing(name))

    def _const(self, node: nodes.Const) -> _Part:
        value = node.value
        if isinstance(value, str) and len(value) > LONGEST_LITERAL:
            raise TemplateFault(f"a text in quotes is longer than {LONGEST_LITERAL} characters", node.lineno)
        if isinstance(value, int | float) and not abs(value) <= LARGEST_NUMBER:
            raise TemplateFault("a number is too large", node.lineno)
        return lambda _: value

    def _list(self, node: nodes.List | nodes.Tuple) -> _Part:
        if len(node.items) > MOST_ITEMS:
            raise TemplateFault(f"a list has more than {MOST_ITEMS} items", node.lineno)
        parts = [self._expression(item) for item in node.items]
        return lambda context: [part(context) for part in parts]

    def _attribute(self, node: nodes.Getattr) -> _Part:
        return self._part_of(node.node, _plain_name(node.attr, node), node)

    def _item(self, node: nodes.Getitem) -> _Part:
        key = node.arg.value if isinstance(node.arg, nodes.Const) else None
        if isinstance(node.arg, nodes.Neg) and isinstance(node.arg.node, nodes.Const):
            key = -node.arg.node.value if isinstance(node.arg.node.value, int) else None
        if isinstance(key, str):
            _plain_name(key, node)
        elif not isinstance(key, int):
            raise TemplateFault("a part is named by a fixed word or number in [ ]", node.lineno)
        return self._part_of(node.node, key, node)

    def _part_of(self, whole: nodes.Node, key: str | int, node: nodes.Node) -> _Part:
        if not isinstance(whole, nodes.Name | nodes.Getattr | nodes.Getitem | nodes.Filter):
            raise TemplateFault("only a variable has parts", node.lineno)
        part, path = self._expression(whole), f"{_written(whole)}.{key}"
        return lambda context: look_up(part(context), key, path)

    def _inline_if(self, node: nodes.CondExpr) -> _Part:
        test, then = self._condition(node.test), self._expression(node.expr1)
        otherwise: _Part = self._expression(node.expr2) if node.expr2 is not None else lambda _: ""
        return lambda context: then(context) if holds(test(context)) else otherwise(context)

    def _compare(self, node: nodes.Compare) -> _Part:
        first = self._expression(node.expr)
        rest = [(COMPARISONS[operand.op], self._expression(operand.expr)) for operand in node.ops]

        def compare(context: Context) -> bool:
            left = first(context)
            for test, part in rest:
                right = part(context)
                if not test(left, right):
                    return False
                left = right
            return True

        return compare

    def _and(self, node: nodes.And) -> _Part:
        left, right = self._condition(node.left), self._expression(node.right)
        return lambda context: value if not holds(value := left(context)) else right(context)

    def _or(self, node: nodes.Or) -> _Part:
        left, right = self._condition(node.left), self._expression(node.right)
        return lambda context: value if holds(value := left(context)) else right(context)

    def _not(self, node: nodes.Not) -> _Part:
        part = self._condition(node.node)
        return lambda context: not holds(part(context))

    def _concat(self, node: nodes.Concat) -> _Part:
        parts = [self._expression(one) for one in node.nodes]
        return lambda context: "".join(said(part(context)) for part in parts)[:LONGEST]

    def _sum(self, node: nodes.Add | nodes.Sub) -> _Part:
        left, right = self._expression(node.left), self._expression(node.right)
        sign = 1 if isinstance(node, nodes.Add) else -1

        def add(context: Context) -> Any:
            a, b = number(left(context)), number(right(context))
            return None if a is None or b is None or max(abs(a), abs(b)) > LARGEST_NUMBER else a + sign * b

        return add

    def _negative(self, node: nodes.Neg) -> _Part:
        part = self._expression(node.node)
        return lambda context: -value if (value := number(part(context))) is not None else None

    def _filter(self, node: nodes.Filter) -> _Part:
        if node.name not in FILTERS:
            raise TemplateFault(f"there is no filter {node.name!r}{meant(node.name, FILTERS)}", node.lineno)
        if node.node is None or node.kwargs or node.dyn_args is not None or node.dyn_kwargs is not None:
            raise TemplateFault(f"`{node.name}` is written {{{{value|{node.name}}}}}", node.lineno)
        least, most = ARGUMENTS.get(node.name, (0, 0))
        if not least <= len(node.args) <= most:
            wanted = str(most) if least == most else f"{least} to {most}"
            raise TemplateFault(f"filter `{node.name}` takes {wanted} arguments, not {len(node.args)}", node.lineno)
        part = self._condition(node.node) if node.name == "default" else self._expression(node.node)
        arguments = [self._expression(argument) for argument in node.args]
        work = FILTERS[node.name]

        def apply(context: Context) -> Any:
            value = part(context)
            if isinstance(value, Missing) and node.name not in ("default", "count"):
                return value
            return work(value, *[argument(context) for argument in arguments])

        return apply

    def _test(self, node: nodes.Test) -> _Part:
        if node.name not in ("defined", "none", "undefined") or node.args:
            raise TemplateFault(f"there is no test `is {node.name}`; there is `is defined`", node.lineno)
        part, wanted = self._condition(node.node), node.name == "defined"
        return lambda context: exists(part(context)) is wanted


_EXPRESSIONS: Final[dict[type[nodes.Node], Callable[[_Parser, Any], _Part]]] = {
    nodes.Name: _Parser._name,
    nodes.Const: _Parser._const,
    nodes.List: _Parser._list,
    nodes.Tuple: _Parser._list,
    nodes.Getattr: _Parser._attribute,
    nodes.Getitem: _Parser._item,
    nodes.CondExpr: _Parser._inline_if,
    nodes.Compare: _Parser._compare,
    nodes.And: _Parser._and,
    nodes.Or: _Parser._or,
    nodes.Not: _Parser._not,
    nodes.Concat: _Parser._concat,
    nodes.Add: _Parser._sum,
    nodes.Sub: _Parser._sum,
    nodes.Neg: _Parser._negative,
    nodes.Filter: _Parser._filter,
    nodes.Test: _Parser._test,
}


def _plain_name(name: str, node: nodes.Node) -> str:
    if name.startswith("_"):
        raise TemplateFault(f"{name!r} is no name of a value: it begins with _", node.lineno)
    return name


def _written(node: nodes.Node) -> str:
    if isinstance(node, nodes.Name):
        return node.name
    if isinstance(node, nodes.Getattr):
        return f"{_written(node.node)}.{node.attr}"
    return _written(node.node) if isinstance(node, nodes.Getitem | nodes.Filter) and node.node else "value"


def _refused(node: nodes.Node) -> TemplateFault:
    what = {"Mul": "*", "Pow": "**", "Div": "/", "Mod": "%", "FloorDiv": "//"}.get(type(node).__name__)
    return TemplateFault(f"{what or type(node).__name__.lower()} is not allowed in a template", node.lineno)
