"""An assistant as a picture: its states and the ways between them, as Mermaid or DOT text, or drawn as SVG."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final, Literal

from dialog.flow.model import Assistant, State
from dialog.flow.state_types import state_type
from dialog.flow.template import Template

Shape = Literal["box", "input", "question", "action", "call", "end"]

MOST_INTENTS: Final = 3
"""Intents that are named on one arrow."""
LONGEST_LABEL: Final = 40
_SHAPES: Final[dict[str, Shape]] = {
    "input_context": "input",
    "input_user": "input",
    "conditional_exists": "question",
    "choose": "question",
    "task": "action",
    "Retail": "action",
    "Weather": "action",
    "call": "call",
    "handover": "end",
    "end": "end",
}
_MERMAID: Final[dict[Shape, tuple[str, str]]] = {
    "box": ("[", "]"),
    "input": ("([", "])"),
    "question": ("{", "}"),
    "action": ("{{", "}}"),
    "call": ("[[", "]]"),
    "end": ("((", "))"),
}
_DOT: Final[dict[Shape, str]] = {
    "box": "box",
    "input": "oval",
    "question": "diamond",
    "action": "hexagon",
    "call": "component",
    "end": "doublecircle",
}


@dataclass(frozen=True, slots=True)
class Node:
    name: str
    """The full name of the state."""
    flow: str
    label: str
    type: str
    shape: Shape
    text: str
    """What it says, shortened; empty for states that say nothing."""
    first: bool = False
    """Whether a conversation begins here."""


@dataclass(frozen=True, slots=True)
class Edge:
    start: str
    end: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def picture_of(assistant: Assistant) -> Picture:
    states = [state for flow in assistant.flows.values() for state in flow.states.values()]
    first = f"{assistant.main}.{assistant.flows[assistant.main].start}"
    nodes = tuple(_node(state, first) for state in states)
    edges = [edge for state in states for edge in _edges(state)]
    for state in states:
        if state.type == "input_context":
            edges += _intent_edges(assistant, state)
    return Picture(nodes, tuple(dict.fromkeys(edges)))


def _node(state: State, first: str) -> Node:
    texts = [state.properties.get("text"), *state.properties.get("responses", ())]
    said = next((text.source for text in texts if isinstance(text, Template)), "")
    return Node(
        name=state.full_name,
        flow=state.flow,
        label=state.name,
        type=state.type.rpartition(":")[2],
        shape=_SHAPES.get(state.type, "box"),
        text=_short(said, 90),
        first=state.full_name == first,
    )


def _edges(state: State) -> Iterable[Edge]:
    kind = state_type(state.type)
    labels: dict[str, list[str]] = {}
    for key, to in state.transitions.items():
        implied = key == "next_state" and kind is not None and kind.exits[0] != ("next_state",)
        if implied and to in [other for one, other in state.transitions.items() if one != key]:
            continue
        labels.setdefault(to, []).append("" if key in ("next_state", "flow") else key)
    for branch in state.branches:
        labels.setdefault(branch.to, []).append(branch.when.source if branch.when is not None else "else")
    for to, names in labels.items():
        yield Edge(state.full_name, to, _short(", ".join(name for name in names if name)))


def _intent_edges(assistant: Assistant, state: State) -> Iterable[Edge]:
    intents: dict[str, list[str]] = {}
    for intent, to in assistant.intent_transitions.items():
        intents.setdefault(to, []).append(intent)
    for to, names in intents.items():
        more = f" +{len(names) - MOST_INTENTS}" if len(names) > MOST_INTENTS else ""
        yield Edge(state.full_name, to, ", ".join(names[:MOST_INTENTS]) + more)


def _short(text: str, most: int = LONGEST_LABEL) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def mermaid(assistant: Assistant, path: Collection[str] = ()) -> str:
    """A Mermaid flowchart; `path` are full names of states that are lit up."""
    picture = picture_of(assistant)
    ids = _ids(picture)
    lines = ["flowchart LR"]
    for flow in assistant.flows:
        lines.append(f'  subgraph {_identifier(f"flow_{flow}")}["{_mermaid_text(flow)}"]')
        for node in picture.nodes:
            if node.flow == flow:
                opening, closing = _MERMAID[node.shape]
                lines.append(f'    {ids[node.name]}{opening}"{_mermaid_text(node.label)}"{closing}')
        lines.append("  end")
    for edge in picture.edges:
        label = f'|"{_mermaid_text(edge.label)}"|' if edge.label else ""
        lines.append(f"  {ids[edge.start]} -->{label} {ids[edge.end]}")
    lit = [ids[name] for name in dict.fromkeys(path) if name in ids]
    if lit:
        lines += ["  classDef lit fill:#ffe8a3,stroke:#b07900,stroke-width:3px", f"  class {','.join(lit)} lit"]
    return "\n".join(lines) + "\n"


def dot(assistant: Assistant, path: Collection[str] = ()) -> str:
    """A DOT graph, for Graphviz."""
    picture = picture_of(assistant)
    ids = _ids(picture)
    lines = ["digraph assistant {", "  rankdir=LR;", '  node [fontname="sans-serif"]; edge [fontname="sans-serif"];']
    for flow in assistant.flows:
        lines += [f"  subgraph {_identifier(f'cluster_{flow}')} {{", f"    label={_dot_text(flow)};"]
        for node in picture.nodes:
            if node.flow == flow:
                lit = ', style=filled, fillcolor="#ffe8a3"' if node.name in path else ""
                lines.append(f"    {ids[node.name]} [label={_dot_text(node.label)}, shape={_DOT[node.shape]}{lit}];")
        lines.append("  }")
    for edge in picture.edges:
        label = f" [label={_dot_text(edge.label)}]" if edge.label else ""
        lines.append(f"  {ids[edge.start]} -> {ids[edge.end]}{label};")
    return "\n".join([*lines, "}"]) + "\n"


def _ids(picture: Picture) -> dict[str, str]:
    return {node.name: f"s{index}" for index, node in enumerate(picture.nodes)}


def _identifier(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]", "_", name)


def _mermaid_text(text: str) -> str:
    return "".join(f"#{ord(letter)};" if letter in '"#<>&`|{}[]();\\' else letter for letter in text)


def _dot_text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
