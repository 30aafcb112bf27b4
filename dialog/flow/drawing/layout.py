"""Places for the nodes of a graph: columns by distance from the start, few crossings, arrows that go right.

What leads back (most states lead back to where the shopper is listened to) is not drawn as an arrow: it is listed with
its node, since a picture in which everything returns to one place is unreadable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

SWEEPS: Final = 8
"""Times that the order of the columns is improved."""
GAP: Final = 16.0
"""Least distance between two nodes of a column."""
BEND: Final = 10.0
"""Height that is kept free for an arrow that passes a column."""


@dataclass(slots=True)
class Cell:
    """A node, or a bend of an arrow that passes a column."""

    name: str
    column: int
    height: float
    middle: float = 0.0
    before: list[Cell] = field(default_factory=list)
    after: list[Cell] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Layout:
    columns: tuple[tuple[Cell, ...], ...]
    cells: Mapping[str, Cell]
    """Of the nodes."""
    routes: Mapping[tuple[str, str], tuple[Cell, ...]]
    """Of the edges that go right: the cells from start to end."""
    height: float


def layered(nodes: Mapping[str, float], edges: Sequence[tuple[str, str]], first: str) -> Layout:
    """Places for nodes (with their heights); edges that lead back or nowhere further get no route."""
    column = _columns(list(nodes), edges, first)
    cells = {name: Cell(name, column[name], height) for name, height in nodes.items()}
    columns: list[list[Cell]] = [[] for _ in range(max(column.values(), default=0) + 1)]
    for cell in cells.values():
        columns[cell.column].append(cell)
    routes: dict[tuple[str, str], tuple[Cell, ...]] = {}
    for start, end in edges:
        if column[end] <= column[start] or (start, end) in routes:
            continue
        bends = [Cell("", at, BEND) for at in range(column[start] + 1, column[end])]
        route = (cells[start], *bends, cells[end])
        for bend in bends:
            columns[bend.column].append(bend)
        for one, other in pairwise(route):
            one.after.append(other)
            other.before.append(one)
        routes[start, end] = route
    height = _arrange(columns)
    return Layout(tuple(tuple(one) for one in columns), cells, routes, height)


def _columns(names: list[str], edges: Sequence[tuple[str, str]], first: str) -> dict[str, int]:
    """The distance of each node from the first; what cannot be reached stands before what it leads to."""
    targets: dict[str, list[str]] = {name: [] for name in names}
    for start, end in edges:
        targets[start].append(end)
    column: dict[str, int] = {}
    for root in (first, *names):
        if root in column:
            continue
        column[root] = max(0, min((column[end] for end in targets[root] if end in column), default=1) - 1)
        waiting = [root]
        for name in waiting:
            for end in targets[name]:
                if end not in column:
                    column[end] = column[name] + 1
                    waiting.append(end)
    return column


def _arrange(columns: list[list[Cell]]) -> float:
    for cells in columns:
        _stack(cells)
    for sweep in range(SWEEPS):
        forward = sweep % 2 == 0
        for cells in columns if forward else reversed(columns):
            wanted = {id(cell): _wanted(cell, forward) for cell in cells}
            cells.sort(key=lambda cell: wanted[id(cell)])
            _settle(cells, [wanted[id(cell)] for cell in cells])
    top = min((cell.middle - cell.height / 2 for cells in columns for cell in cells), default=0.0)
    for cells in columns:
        for cell in cells:
            cell.middle -= top
    return max((cell.middle + cell.height / 2 for cells in columns for cell in cells), default=0.0)


def _wanted(cell: Cell, forward: bool) -> float:
    """The middle of the neighbours of the column before, or after."""
    near = cell.before if forward else cell.after
    return sum(one.middle for one in near) / len(near) if near else cell.middle


def _stack(cells: list[Cell]) -> None:
    at = 0.0
    for cell in cells:
        cell.middle = at + cell.height / 2
        at += cell.height + GAP


def _settle(cells: list[Cell], wanted: list[float]) -> None:
    """Every cell as near to its wanted place as the others let it: groups that touch move together."""
    groups: list[tuple[float, float, list[Cell]]] = []  # top, height, cells
    for cell, middle in zip(cells, wanted, strict=True):
        top, height, members = middle - cell.height / 2, cell.height, [cell]
        while groups and groups[-1][0] + groups[-1][1] + GAP > top:
            above_top, above_height, above = groups.pop()
            joined = above_height + GAP + height
            weight = len(above) / (len(above) + len(members))
            top = above_top * weight + (top - above_height - GAP) * (1 - weight)
            height, members = joined, above + members
        groups.append((top, height, members))
    for top, _, members in groups:
        at = top
        for cell in members:
            cell.middle = at + cell.height / 2
            at += cell.height + GAP
