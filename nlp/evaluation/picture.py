"""A confusion matrix as a picture (SVG), readable in light and dark, in print and without colours."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from nlp.evaluation.agreement import Matrices

CELL, LEFT, TOP = 110, 150, 96
INK, PALE, GRID = "#1f2430", "#ffffff", "#d5d9e0"


def confusion_svg(matrix: Matrices, labels: Sequence[str], title: str, rows: str, columns: str) -> str:
    """Rows are what was wanted; a cell is as dark as its share of its row, and tells both."""
    size = CELL * len(labels)
    width, height = LEFT + size + 24, TOP + size + 40
    shares = matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        f' font-family="system-ui, sans-serif" fill="{INK}" role="img" aria-label="{escape(title)}">',
        f'<rect width="{width}" height="{height}" fill="{PALE}"/>',
        text_svg(24, 28, title, size=16, weight=600),
        text_svg(LEFT + size / 2, 56, columns, anchor="middle", size=12),
    ]
    for at, label in enumerate(labels):
        middle = at * CELL + CELL / 2
        parts.append(text_svg(LEFT + middle, TOP - 12, label, anchor="middle"))
        parts.append(text_svg(LEFT - 12, TOP + middle + 4, label, anchor="end"))
        for other in range(len(labels)):
            parts += _cell(at, other, matrix[at, other], shares[at, other])
    parts.append(text_svg(24, TOP + size + 26, f"rows: {rows}; shares are of the row", size=12))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _cell(row: int, column: int, count: float, share: float) -> list[str]:
    x, y = LEFT + column * CELL, TOP + row * CELL
    # From white to a deep blue; text turns white where the ground is dark.
    red, green, blue = (round(255 + (deep - 255) * share) for deep in (0, 82, 140))
    ink = PALE if share > 0.55 else INK
    return [
        f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="rgb({red},{green},{blue})" stroke="{GRID}"/>',
        text_svg(x + CELL / 2, y + CELL / 2 - 2, f"{count:,.0f}", anchor="middle", size=18, weight=600, ink=ink),
        text_svg(x + CELL / 2, y + CELL / 2 + 20, f"{share:.1%}", anchor="middle", size=12, ink=ink),
    ]


def text_svg(
    x: float, y: float, words: str, *, anchor: str = "start", size: int = 14, weight: int = 400, ink: str = INK
) -> str:
    style = f'font-size="{size}" font-weight="{weight}" text-anchor="{anchor}" fill="{ink}"'
    return f'<text x="{x:g}" y="{y:g}" {style}>{escape(words)}</text>'
