"""The picture of an assistant as SVG, drawn without any other program."""

from __future__ import annotations

from collections.abc import Collection
from html import escape
from typing import Final

from dialog.flow.drawing.layout import Cell, layered
from dialog.flow.drawing.picture import Edge, Node, picture_of
from dialog.flow.model import Assistant

WIDTH: Final = 214
LINE: Final = 15
HEAD: Final = 44
MARGIN: Final = 24
LEGEND: Final = 34
LETTER: Final = 6.1
"""Width of a letter of a label."""
_COLOURS: Final = ("#2f6fb0", "#2d8659", "#a8590f", "#8a4aa8", "#a83a4f", "#4d7d80", "#70702a", "#5a5fb8")
_STYLE: Final = """
svg { font: 12px sans-serif; background: #ffffff; }
.state { fill: #ffffff; stroke-width: 1.6; }
.name { font-weight: 600; fill: #1c1f23; }
.type { fill: #5b636d; font-size: 11px; }
.way { fill: none; stroke: #8b939d; stroke-width: 1.3; }
.label { fill: #3d444c; font-size: 11px; paint-order: stroke; stroke: #ffffff; stroke-width: 3px; }
.back { fill: #5b636d; font-size: 11px; }
.tip { fill: #8b939d; }
.lit { fill: #ffe8a3; stroke-width: 3; }
@media (prefers-color-scheme: dark) {
  svg { background: #16191d; }
  .state { fill: #20252b; } .name { fill: #f0f2f4; } .type, .back { fill: #aab2bc; }
  .label { fill: #d5dae0; stroke: #16191d; }
  .way { stroke: #6d7681; } .tip { fill: #6d7681; } .lit { fill: #5c4a12; }
}
"""


def svg(assistant: Assistant, path: Collection[str] = ()) -> str:
    """The drawing; `path` are full names of states that are lit up. States and ways carry their names, so that a page
    can light up others later."""
    return _Drawing(assistant, path).text()


class _Drawing:
    def __init__(self, assistant: Assistant, path: Collection[str]) -> None:
        picture = picture_of(assistant)
        self._nodes = {node.name: node for node in picture.nodes}
        self._edges = {(edge.start, edge.end): edge for edge in picture.edges}
        self._path = path
        self._flows = {flow: _COLOURS[index % len(_COLOURS)] for index, flow in enumerate(assistant.flows)}
        first = f"{assistant.main}.{assistant.flows[assistant.main].start}"
        pairs = list(self._edges)
        places = layered(dict.fromkeys(self._nodes, float(HEAD)), pairs, first)
        self._back = _back(self._edges, places.routes)
        heights = {name: HEAD + LINE * len(self._back.get(name, ())) for name in self._nodes}
        self._layout = layered({name: float(height) for name, height in heights.items()}, pairs, first)
        self._left = self._lefts()

    def _lefts(self) -> list[float]:
        """Of the columns; between two of them the longest label finds room."""
        left, found = float(MARGIN), []
        for index, _ in enumerate(self._layout.columns):
            found.append(left)
            labels = [
                len(self._edges[pair].label)
                for pair, route in self._layout.routes.items()
                if route[-1].column == index + 1
            ]
            left += WIDTH + 60 + LETTER * max(labels, default=0)
        return found

    def text(self) -> str:
        width = self._left[-1] + WIDTH + MARGIN
        height = self._layout.height + 2 * MARGIN + LEGEND
        ways = [self._way(self._edges[pair], route) for pair, route in self._layout.routes.items()]
        states = [self._state(node) for node in self._nodes.values()]
        size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
        flows = len(self._flows)
        count = f"{len(self._nodes)} states in {flows} {'flow' if flows == 1 else 'flows'}"
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="An assistant: {count}">'
        return "\n".join([head, f"<style>{_STYLE}</style>", *self._legend(), *ways, *states, "</svg>"]) + "\n"

    def _legend(self) -> list[str]:
        at, found = float(MARGIN), []
        for flow, colour in self._flows.items():
            found.append(f'<rect x="{at:.0f}" y="14" width="12" height="12" rx="3" fill="{colour}"/>')
            found.append(f'<text class="name" x="{at + 18:.0f}" y="24">{escape(flow)}</text>')
            at += 18 + 7.5 * len(flow) + 30
        return found

    def _middle(self, cell: Cell) -> float:
        return cell.middle + MARGIN + LEGEND

    def _state(self, node: Node) -> str:
        cell = self._layout.cells[node.name]
        left, top = self._left[cell.column], self._middle(cell) - cell.height / 2
        colour = self._flows[node.flow]
        lit = " lit" if node.name in self._path else ""
        round_by = {"input": HEAD / 2, "end": 14}.get(node.shape, 4)
        dashes = ' stroke-dasharray="6 3"' if node.shape == "question" else ""
        stroke = ' stroke-width="3"' if node.first else ""
        title = escape(f"{node.name} ({node.type})" + (f": {node.text}" if node.text else ""))
        shape = (
            f'<rect class="state{lit}" x="{left:.1f}" y="{top:.1f}" width="{WIDTH}" height="{HEAD}" rx="{round_by}" '
            f'stroke="{colour}"{dashes}{stroke}/>'
        )
        bar = ""
        if node.shape in ("action", "call"):
            bar = f'<rect x="{left:.1f}" y="{top:.1f}" width="6" height="{HEAD}" fill="{colour}"/>'
        at = f'x="{left + WIDTH / 2:.1f}" text-anchor="middle"'
        lines = [
            f'<text class="name" {at} y="{top + 19:.1f}">{_fit(node.label, 28)}</text>',
            f'<text class="type" {at} y="{top + 35:.1f}">{_fit(node.type, 32)}</text>',
        ]
        for index, back in enumerate(self._back.get(node.name, ())):
            below = top + HEAD + LINE * (index + 1) - 3
            lines.append(f'<text class="back" x="{left + 8:.1f}" y="{below:.1f}">{_fit(back, 36)}</text>')
        return f'<g data-state="{escape(node.name)}"><title>{title}</title>{shape}{bar}{"".join(lines)}</g>'

    def _way(self, edge: Edge, route: tuple[Cell, ...]) -> str:
        points = []
        for cell in route:
            left = self._left[cell.column]
            at = self._middle(cell) if not cell.name else self._middle(cell) - cell.height / 2 + HEAD / 2
            points.append((left, at))
        x, y = points[0][0] + WIDTH, points[0][1]
        line = f"M{x:.1f} {y:.1f}"
        for left, at in points[1:]:
            bend = (left - x) / 2
            line += f" C{x + bend:.1f} {y:.1f} {left - bend:.1f} {at:.1f} {left:.1f} {at:.1f}"
            x, y = left, at
            if (left, at) != points[-1]:
                x += WIDTH
                line += f" H{x:.1f}"
        tip = f'<path class="tip" d="M{x:.1f} {y:.1f} l-8 -4 v8 z"/>'
        label = ""
        if edge.label:
            label = (
                f'<text class="label" x="{x - 14:.1f}" y="{y - 5:.1f}" text-anchor="end">{escape(edge.label)}</text>'
            )
        ends = f'data-from="{escape(edge.start)}" data-to="{escape(edge.end)}"'
        return f'<g {ends}><path class="way" d="{line}"/>{tip}{label}</g>'


def _back(edges: dict[tuple[str, str], Edge], routes: Collection[tuple[str, str]]) -> dict[str, list[str]]:
    """Under each node, where it leads that is not further on."""
    found: dict[str, list[str]] = {}
    for (start, end), edge in edges.items():
        if (start, end) not in routes:
            flow, _, name = end.partition(".")
            shown = name if start.startswith(f"{flow}.") else end
            found.setdefault(start, []).append(f"↩ {shown}" + (f" ({edge.label})" if edge.label else ""))
    return found


def _fit(text: str, most: int) -> str:
    return escape(text if len(text) <= most else f"{text[: most - 1]}…")
