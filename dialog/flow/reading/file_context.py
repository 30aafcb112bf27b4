"""Reading one file of an assistant: its faults, and the small values that all its sections have in common."""

from __future__ import annotations

import re
from typing import Final

from dialog.flow.draft import Draft, Mention, Reference
from dialog.flow.expression import Expression, ExpressionFault
from dialog.flow.faults import place_of
from dialog.flow.model import Where
from dialog.flow.template import Template, TemplateFault
from tenor.yaml import fields
from tenor.yaml.nodes import Faults, Mapping, Node, Place, Sequence, Text

NAME: Final = re.compile(r"[^\W\d][\w-]{0,79}")
"""Of a flow, a state, a slot, an action."""
VARIABLE: Final = re.compile(r"[^\W\d_]\w*(?:\.[^\W_]\w*)*")
LONGEST_DELAY_MS: Final = 60_000
_BRACES: Final = re.compile(r"\s*\{\{\s*(.*?)\s*\}\}\s*")
_FLAGS: Final = {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False}


class FileContext:
    """One file while it is read into a draft."""

    def __init__(self, file: str, draft: Draft) -> None:
        self.file = file
        self.draft = draft
        self.faults = Faults()

    def where(self, place: Place) -> Where:
        return place_of(self.file, place)

    def entries(self, node: Node, what: str) -> list[tuple[Text, Node]]:
        """Of a mapping; of nothing (a key with an empty value) none."""
        if isinstance(node, Text) and not node.value:
            return []
        tree = fields.mapping(node, self.faults, what)
        return list(tree) if tree is not None else []

    def name(self, key: Text, what: str) -> bool:
        """Whether a key may be the name of something; else it is told."""
        if NAME.fullmatch(key.value):
            return True
        if " " in key.value.strip():
            self.faults.add(key, f"{key.value!r} looks like text that was wrapped onto a line of its own, not {what}")
        else:
            self.faults.add(key, f"{key.value!r} is no name for {what}: letters, digits, - and _, up to 80")
        return False

    def template(self, node: Node, what: str, also: frozenset[str] = frozenset()) -> Template | None:
        """A text with variables; `also` are those that only this text may use."""
        value = fields.text(node, self.faults, what)
        if value is None:
            return None
        try:
            template = Template.parse(" ".join(value.split()))
        except TemplateFault as fault:
            self.faults.add(node, f"{what}: {fault.message}")
            return None
        self.draft.mentions.append(Mention(template, self.where(node), also))
        return template

    def templates(self, node: Node, what: str, also: frozenset[str] = frozenset()) -> tuple[Template, ...]:
        """One text, or a list of them."""
        nodes = node.items if isinstance(node, Sequence) else (node,)
        if not nodes:
            self.faults.add(node, f"{what} is an empty list")
        found = [self.template(one, what, also) for one in nodes]
        return tuple(one for one in found if one is not None)

    def templates_by_name(self, node: Node, what: str) -> dict[str, Template]:
        found = {key.value: self.template(value, f"`{key.value}`") for key, value in self.entries(node, what)}
        return {name: template for name, template in found.items() if template is not None}

    def expression(self, node: Node, what: str) -> Expression | None:
        value = fields.text(node, self.faults, what)
        if value is None:
            return None
        try:
            expression = Expression.parse(value)
        except ExpressionFault as fault:
            self.faults.add(node, f"{what}: {fault.message}")
            return None
        self.draft.mentions.append(Mention(expression, self.where(node)))
        return expression

    def variable(self, node: Node, what: str) -> str | None:
        """`location` of `'{{location}}'` or `location`."""
        if isinstance(node, Mapping):  # {{location}} without quotes is a mapping in YAML
            self.faults.add(node, f"{what} needs quotes around its braces: '{{{{location}}}}'")
            return None
        value = fields.text(node, self.faults, what)
        if value is None:
            return None
        name = found[1] if (found := _BRACES.fullmatch(value)) else value.strip()
        if VARIABLE.fullmatch(name):
            return name
        self.faults.add(node, f"{what} is one variable such as '{{{{location}}}}', not {value!r}")
        return None

    def flag(self, node: Node, what: str) -> bool | None:
        value = fields.text(node, self.faults, what)
        if value is None:
            return None
        if value.lower() not in _FLAGS:
            self.faults.add(node, f"{what} is yes or no, not {value!r}")
        return _FLAGS.get(value.lower())

    def delay(self, node: Node) -> int | None:
        """Milliseconds of `0`, `1.5` (seconds) or `500 ms`."""
        value = fields.text(node, self.faults, "`delay`")
        if value is None:
            return None
        found = fields.quantity(value)
        seconds = fields.seconds(found[0], found[1] or "s") if found is not None else None
        if seconds is None:
            self.faults.add(node, f"`delay` is a time in seconds, or such as 500 ms, not {value!r}")
        elif not 0 <= seconds * 1000 <= LONGEST_DELAY_MS:
            self.faults.add(node, f"`delay` is from 0 to {LONGEST_DELAY_MS // 1000} s, not {value!r}")
        else:
            return round(seconds * 1000)
        return None

    def whole(self, node: Node, what: str, least: int, most: int) -> int | None:
        value = fields.text(node, self.faults, what)
        if value is None:
            return None
        if value.isascii() and value.isdigit() and least <= int(value[:9]) <= most:
            return int(value)
        self.faults.add(node, f"{what} is a whole number from {least} to {most}, not {value!r}")
        return None

    def references(self, node: Node, kind: str, what: str) -> tuple[str, ...]:
        """A list of names of slots or actions, which the checker looks up."""
        found = fields.texts(node, self.faults, what)
        for one in found:  # `item or store`: either will do
            self.draft.references += [(kind, Reference(name, self.where(one))) for name in one.value.split(" or ")]
        return tuple(dict.fromkeys(one.value for one in found))
