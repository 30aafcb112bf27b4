"""Drift as a picture (SVG): one small chart per measure, what is usual as a line, days of an alarm as dots."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from html import escape

from storage.drift.measures import MEANING, Measure
from storage.drift.queries import DriftPoint
from storage.tables import DriftTest

WIDTH, HEIGHT, LEFT, TOP, GAP = 640, 120, 70, 46, 64
COLOURS = ("#3b6fd4", "#c0392b", "#2e8b57", "#8e5bb5", "#b8860b")
STYLE = """svg { font: 12px system-ui, sans-serif; background: #ffffff; fill: #1f2430 }
.frame { stroke: #d5d9e0; fill: none } .usual { stroke-dasharray: 4 3 } .line { fill: none; stroke-width: 1.6 }
@media (prefers-color-scheme: dark) { svg { background: #16191d; fill: #e6e8ec } .frame { stroke: #3a404a } }"""
Charts = Mapping[Measure, Mapping[str, Sequence[DriftPoint]]]


def drift_svg(title: str, charts: Charts, tests: Collection[DriftTest]) -> str:
    """`charts`: of each measure its lines, by label. `tests`: of the same scope and name."""
    days = sorted({point.day for lines in charts.values() for points in lines.values() for point in points})
    height = TOP + len(charts) * (HEIGHT + GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
        f' role="img" aria-label="{escape(title)}">',
        f"<style>{STYLE}</style>",
        f'<text x="24" y="26" font-size="16" font-weight="600">{escape(title)}</text>',
    ]
    for number, (measure, lines) in enumerate(charts.items()):
        own = [one for one in tests if one.measure == measure and one.value in lines]
        parts += _chart(measure, lines, own, days, TOP + 24 + number * (HEIGHT + GAP))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _chart(
    measure: Measure,
    lines: Mapping[str, Sequence[DriftPoint]],
    tests: Collection[DriftTest],
    days: Sequence[str],
    top: int,
) -> list[str]:
    values = [point.value for points in lines.values() for point in points] + [one.before for one in tests]
    low, high = min(values), max(values)
    margin = 0.1 * (high - low) or 0.05
    low, high = low - margin, high + margin
    at = {day: LEFT + (WIDTH - LEFT - 24) * number / max(len(days) - 1, 1) for number, day in enumerate(days)}

    def y(value: float) -> float:
        return top + HEIGHT * (high - value) / (high - low)

    parts = [
        f'<text x="24" y="{top - 8}" font-weight="600">{escape(MEANING[measure])}</text>',
        f'<rect class="frame" x="{LEFT}" y="{top}" width="{WIDTH - LEFT - 24}" height="{HEIGHT}"/>',
        *(
            f'<text x="{LEFT - 6}" y="{y(v) + 4:.1f}" text-anchor="end">{v:.1%}</text>'
            for v in (low + margin, high - margin)
        ),
        *(
            f'<text x="{at[day]:.1f}" y="{top + HEIGHT + 16}" text-anchor="{anchor}">{day}</text>'
            for day, anchor in ((days[0], "start"), (days[-1], "end"))
        ),
    ]
    for number, (value, points) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        own = [one for one in tests if one.value == value]
        path = " ".join(f"{at[point.day]:.1f},{y(point.value):.1f}" for point in points)
        parts.append(f'<polyline class="line" stroke="{colour}" points="{path}"/>')
        if own:
            at_y = f'y1="{y(own[-1].before):.1f}" y2="{y(own[-1].before):.1f}"'
            parts.append(f'<line class="usual" stroke="{colour}" x1="{LEFT}" x2="{WIDTH - 24}" {at_y}/>')
        known = {point.day: point.value for point in points}
        parts += [
            f'<circle cx="{at[one.day]:.1f}" cy="{y(known[one.day]):.1f}" r="4" fill="{colour}"><title>{one.day}: '
            f"p = {min(one.corrected, one.together):.1g}</title></circle>"
            for one in own
            if one.alarm and one.day in known
        ]
        if value:
            x = LEFT + 110 * number
            parts.append(f'<text x="{x}" y="{top + HEIGHT + 32}" fill="{colour}">{escape(value)}</text>')
    return parts
