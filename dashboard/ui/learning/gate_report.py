"""What the gate said of a model: every check with its figure and interval, as text and as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from dashboard.ui import formatting
from storage.tables import Gate

SIGNS = {"passed": "✓", "failed": "✗", "unsure": "?", "told": "·"}
ROOM = 0.08
"""Share of the picture that is left free at each side."""


def report(gate: Gate) -> str:
    """As `tenor models gate` prints it. What an older version wrote down and has no checks is its verdict alone."""
    tone = "passed" if gate.passed else "failed"
    about = f"against {gate.against}, {formatting.moment(gate.at)}, asked by {gate.by}"
    attempt = gate.figures.get("attempt")
    about += f", attempt {attempt} on this hold-out" if attempt else ""
    checks = "".join(map(_check, gate.figures.get("checks") or ()))
    return (
        f'<div class="t-gate" id="gate"><p class="{tone}"><b>{SIGNS[tone]} {escape(gate.verdict)}</b>'
        f"<small>{escape(about)}</small></p>{checks}</div>"
    )


def _check(check: Mapping[str, Any]) -> str:
    outcome = str(check.get("outcome", "told"))
    lines = "".join(f"<li>{escape(str(line))}</li>" for line in check.get("details") or ())
    more = f"<details><summary>more</summary><ul>{lines}</ul></details>" if lines else ""
    name, text = (escape(str(check.get(field, "")), quote=True) for field in ("name", "text"))
    return (
        f'<div class="check {escape(outcome, quote=True)}" data-check="{name}">'
        f"<i>{SIGNS.get(outcome, '·')}</i><span><b>{name}</b> {text}{more}</span>{_interval(check)}</div>"
    )


def _interval(check: Mapping[str, Any]) -> str:
    """Where the figure lies, with zero as a line."""
    if any(check.get(name) is None for name in ("value", "low", "high")):
        return "<span></span>"
    value, low, high = (float(check[name]) for name in ("value", "low", "high"))
    first, last = min(low, 0.0), max(high, 0.0)
    width = (last - first) or 1.0

    def at(number: float) -> float:
        return 100 * (ROOM + (1 - 2 * ROOM) * (number - first) / width)

    told = f"{low:+.3g} to {high:+.3g}".replace("-", formatting.MINUS)
    return (
        f'<span class="t-span" role="img" aria-label="{told}" title="{told}">'
        f'<u style="left:{at(0.0):.1f}%"></u><s style="left:{at(low):.1f}%;width:{at(high) - at(low):.1f}%"></s>'
        f'<em style="left:{at(value):.1f}%"></em></span>'
    )
