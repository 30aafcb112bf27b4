"""The tables of docs/events.md, made from tenor/events.py: `make docs`, or `python -m tests.docs.events_page`."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from tenor import events
from tenor.events import DAY, HOUR, Topic

PAGE = Path(__file__).parents[2] / "docs" / "events.md"
BEGIN = "<!-- Made by `make docs` from tenor/events.py, from here -->\n"
END = "<!-- to here. -->\n"
SOURCE = ast.parse(inspect.getsource(events)).body
ALIASES = {
    node.targets[0].id: ast.unparse(node.value)
    for node in SOURCE
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and isinstance(node.value, ast.Subscript)
}
"""`Medium` and the like, as what they stand for."""
CLASSES = {node.name: node for node in SOURCE if isinstance(node, ast.ClassDef)}


def page() -> str:
    """The whole page as it must be: what is written by hand as it stands, and the tables made from the events."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    return before + BEGIN + "\n" + "\n".join(_topics()) + END + after


def _topics() -> Iterator[str]:
    shown: set[str] = set()
    for node, following in zip(SOURCE, [*SOURCE[1:], None], strict=True):
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        topic = getattr(events, node.targets[0].id)
        if not isinstance(topic, Topic) or not isinstance(node.value, ast.Call):
            continue
        about = _text(following) if following else ""
        codec = "MessagePack" if "msgpack" in ast.unparse(node.value) else "JSON"
        yield f"## Topic `{topic.name}`\n"
        yield textwrap.fill(f"{codec}, kept {_duration(topic.retention_s)}. {about}".strip(), 125) + "\n"
        named = _named(ast.unparse(node.value.args[1]))
        for kind in (name for name in CLASSES if name in named and name not in shown):
            shown.add(kind)
            yield from _kind(CLASSES[kind])


def _named(text: str) -> set[str]:
    """The events a text names, and the structs that these are made of."""
    found = {name for name in re.findall(r"\w+", text) if name in CLASSES and name != "Event"}
    inside = {name for kind in found for name in _named(" ".join(ast.unparse(hint) for _, hint, _, _ in _fields(kind)))}
    return found | inside


def _kind(node: ast.ClassDef) -> Iterator[str]:
    tag = next((ast.literal_eval(one.value) for one in node.keywords if one.arg == "tag"), None)
    yield f"### {node.name} (`{tag}`)\n" if tag else f"### {node.name}\n"
    yield textwrap.fill(" ".join((ast.get_docstring(node) or "").split()), 125) + "\n"
    yield table(node.name)


def table(kind: str) -> str:
    """The fields of an event."""
    rows = ["| field | type | default | meaning |", "|---|---|---|---|"]
    for name, hint, default, meaning in _fields(kind):
        spelled = re.sub(r"\w+", lambda word: ALIASES.get(word[0], word[0]), ast.unparse(hint))
        type_ = re.sub(r" \| None$", " or None", spelled)
        cells = (f"`{name}`", f"`{type_}`", f"`{ast.unparse(default)}`" if default else "", meaning)
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def _fields(kind: str) -> Iterator[tuple[str, ast.expr, ast.expr | None, str]]:
    """Name, type, default and meaning of each field, as they stand in the source."""
    body = CLASSES[kind].body
    for node, following in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id, node.annotation, node.value, _text(following) if following else ""


def _text(node: ast.stmt) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return " ".join(node.value.value.split())
    return ""


def _duration(seconds: int) -> str:
    days, hours = seconds // DAY, seconds // HOUR
    return f"{days} day{'s' * (days > 1)}" if days else f"{hours} hours"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
