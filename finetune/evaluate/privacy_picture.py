"""What redaction costs, as a picture (SVG): macro-F1 of every fold and their mean by level, and how much was masked."""

from __future__ import annotations

from html import escape

from finetune.evaluate.privacy import PrivacyReport
from nlp.evaluation.picture import GRID, INK, PALE, text_svg

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 640, 260, 64, 86, 56
COLOURS = ("#0072B2", "#B87800", "#009E73")
BARS = 0.3
"""Of the height, for the share of words that is masked at most."""


def privacy_svg(title: str, report: PrivacyReport) -> str:
    heads = list(report.levels[0].heads)
    values = [value for one in report.levels for own in one.heads.values() for value in own.folds]
    margin = 0.1 * (max(values) - min(values)) or 0.05
    low, high = max(0.0, min(values) - margin), min(1.0, max(values) + margin)
    most = max(one.masked for one in report.levels) or 1.0
    step = (WIDTH - LEFT - 24) / len(report.levels)
    floor = TOP + HEIGHT

    def x(at: int) -> float:
        return LEFT + step * (at + 0.5)

    def y(value: float) -> float:
        return TOP + HEIGHT * (high - value) / (high - low)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {floor + BOTTOM}" width="{WIDTH}"'
        f' height="{floor + BOTTOM}" font-family="system-ui, sans-serif" fill="{INK}" role="img"'
        f' aria-label="{escape(title)}">',
        f'<rect width="{WIDTH}" height="{floor + BOTTOM}" fill="{PALE}"/>',
        text_svg(24, 30, title, size=16, weight=600),
        text_svg(
            24, 50, f"macro-F1 by level; dots: {report.folds} folds; bars: words masked, {most:.1%} at most", size=12
        ),
        f'<rect x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - 24}" height="{HEIGHT}" fill="none" stroke="{GRID}"/>',
        *(text_svg(LEFT - 44, y(value) + 4, f"{value:.3f}", size=11) for value in (low, (low + high) / 2, high)),
    ]
    for at, one in enumerate(report.levels):
        tall = BARS * HEIGHT * one.masked / most
        parts.append(
            f'<rect x="{x(at) - step / 4:.1f}" y="{floor - tall:.1f}" width="{step / 2:.1f}" height="{tall:.1f}"'
            f' fill="{GRID}"><title>{one.masked:.2%} of the words masked</title></rect>'
        )
        parts.append(text_svg(x(at) - 12, floor + 18, one.level, size=11))
    for number, head in enumerate(heads):
        colour = COLOURS[number % len(COLOURS)]
        points = " ".join(f"{x(at):.1f},{y(one.heads[head].mean):.1f}" for at, one in enumerate(report.levels))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [
            f'<circle cx="{x(at):.1f}" cy="{y(value):.1f}" r="2.5" fill="{colour}"/>'
            for at, one in enumerate(report.levels)
            for value in one.heads[head].folds
        ]
        parts.append(f'<rect x="{LEFT + 110 * number}" y="66" width="12" height="4" fill="{colour}"/>')
        parts.append(text_svg(LEFT + 18 + 110 * number, 72, head, size=12))
    parts.append(text_svg(LEFT, floor + 40, "none: nothing is redacted; then the strength of redaction", size=11))
    return "\n".join([*parts, "</svg>"]) + "\n"
