"""The gate's figures as a picture (SVG): intervals against their bounds, and confusion matrices of both models."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from finetune.gate.verdict import Check, Confusion, Interval
from nlp.evaluation.picture import GRID, INK, PALE, confusion_svg, text_svg

ROW, LEFT, AXIS, RIGHT, TOP = 34, 250, 420, 230, 84
FINE, WRONG, UNSURE = "#0a6e4f", "#b3261e", "#8a6100"
MOST_LABELS = 7
"""Of a matrix; the rest is one row and column."""
MARGIN = 24


def gate_svg(title: str, checks: Sequence[Check], confusions: Sequence[Confusion], names: tuple[str, str]) -> str:
    """`names`: of the champion and of the candidate."""
    intervals = [interval for check in checks for interval in check.intervals if interval.low is not None]
    matrices = [
        confusion_svg(np.array(counts, float), labels, f"{confusion.kind}: {name}", "what people say", "what it says")
        for confusion in confusions
        for labels, *both in [_shortened(confusion)]
        for name, counts in zip(names, both, strict=True)
    ]
    below = TOP + ROW * max(len(intervals), 1) + 2 * MARGIN
    sizes = [_size(picture) for picture in matrices]
    pairs = [sizes[at : at + 2] for at in range(0, len(sizes), 2)]
    width = max([LEFT + AXIS + RIGHT, *(sum(one[0] for one in pair) + MARGIN for pair in pairs)])
    height = below + sum(max(one[1] for one in pair) + MARGIN for pair in pairs)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        f' font-family="system-ui, sans-serif" fill="{INK}" role="img" aria-label="{escape(title)}">',
        f'<rect width="{width}" height="{height}" fill="{PALE}"/>',
        text_svg(MARGIN, 32, title, size=16, weight=600),
        text_svg(MARGIN, 56, "each difference with its interval; the bar is what it must clear", size=12),
        *(part for at, one in enumerate(intervals) for part in _interval(one, TOP + ROW * at)),
    ]
    if not intervals:
        parts.append(text_svg(MARGIN, TOP + 12, "too few calls for intervals", size=14))
    top = below
    for at, pair in enumerate(pairs):
        left = 0
        for picture, (wide, _) in zip(matrices[2 * at :], pair, strict=False):
            parts.append(picture.replace("<svg ", f'<svg x="{left}" y="{top}" ', 1).strip())
            left += wide + MARGIN
        top += max(one[1] for one in pair) + MARGIN
    return "\n".join([*parts, "</svg>"]) + "\n"


def _interval(one: Interval, y: float) -> list[str]:
    """On a scale of its own, as wide as it needs."""
    assert one.low is not None
    assert one.high is not None
    reach = max(abs(one.low - one.bound), abs(one.high - one.bound), abs(one.bound), 1e-9) * 1.15
    middle = LEFT + AXIS / 2

    def x(value: float) -> float:
        return middle + (value - one.bound) / reach * AXIS / 2

    clear = one.low > one.bound if one.above else one.high < one.bound
    missed = one.value < one.bound if one.above else one.value > one.bound
    ink = FINE if clear else WRONG if missed else UNSURE
    word = "clears it" if clear else "does not" if missed else "cannot tell"
    line = y + ROW / 2
    wanted = "above" if one.above else "below"
    return [
        text_svg(LEFT - 12, line + 5, one.name, anchor="end"),
        f'<line x1="{LEFT}" y1="{line}" x2="{LEFT + AXIS}" y2="{line}" stroke="{GRID}"/>',
        f'<line x1="{middle}" y1="{y + 4}" x2="{middle}" y2="{y + ROW - 4}" stroke="{INK}" stroke-width="3"/>',
        f'<line x1="{x(one.low):.1f}" y1="{line}" x2="{x(one.high):.1f}" y2="{line}" stroke="{ink}" stroke-width="5"/>',
        f'<circle cx="{x(one.value):.1f}" cy="{line}" r="6" fill="{ink}"/>',
        text_svg(LEFT + AXIS + 12, line - 2, f"{one.value:+.3f} ({one.low:+.3f} to {one.high:+.3f})", size=12),
        text_svg(LEFT + AXIS + 12, line + 12, f"{wanted} {one.bound:g}: {word}", size=11, ink=ink),
    ]


def _shortened(confusion: Confusion) -> tuple[Sequence[str], np.ndarray, np.ndarray]:
    """The labels that people gave most often, and the others as one."""
    both = [np.array(counts) for counts in (confusion.champion, confusion.candidate)]
    if len(confusion.labels) <= MOST_LABELS + 1:
        return confusion.labels, both[0], both[1]
    most = sorted(np.argsort(-both[0].sum(axis=1), kind="stable")[:MOST_LABELS])
    place = {at: number for number, at in enumerate(most)}
    short = [np.zeros((MOST_LABELS + 1, MOST_LABELS + 1), int) for _ in both]
    for whole, small in zip(both, short, strict=True):
        for (row, column), count in np.ndenumerate(whole):
            small[place.get(row, MOST_LABELS), place.get(column, MOST_LABELS)] += count
    return [*(confusion.labels[at] for at in most), "others"], short[0], short[1]


def _size(picture: str) -> tuple[int, int]:
    width, height = (picture.split(f' {name}="', 1)[1].split('"', 1)[0] for name in ("width", "height"))
    return int(width), int(height)
