"""Runs in words and tables: what each was made with, how far it came, and whether two are certainly apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from dashboard.ui import formatting, navigation
from storage.runs.runs import RunView, differing_parameters

STATES = {"running": "more", "done": "same", "failed": "down", "died": "down", "paused": "few", "stopped": "few"}
"""How a state is marked on a card."""
FIGURES = 4
"""Figures in a line of the list."""


def figure(value: Any) -> str:
    """A parameter or a point of a curve."""
    if value is None or value == "":
        return formatting.NOTHING
    if isinstance(value, float):
        return f"{value:.4g}".replace("-", formatting.MINUS)
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {figure(one)}" for key, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(figure, value))
    return str(value)


def row(one: RunView) -> str:
    """A line of the list, which leads to the run."""
    figures = ", ".join(f"{name} {figure(value)}" for name, value in list(one.last.items())[-FIGURES:])
    about = f"{formatting.moment(one.run.started_at)}, by {one.run.by}, {formatting.duration(one.seconds)}"
    link = escape(navigation.address("runs", runs=str(one.id)), quote=True)
    return (
        f'<a class="t-row" data-run="{one.id}" target="_self" href="{link}"><span class="when">run {one.id}</span>'
        f'<span class="what">{escape(one.run.recipe)} on {escape(one.run.dataset)} '
        f'<span class="t-chip{" critical" if one.state in ("failed", "died") else ""}">{one.state}</span>'
        f"<small>{escape(about)}{escape(f' · {figures}') if figures else ''}</small></span>"
        f'<span class="felt">{escape(one.run.model)}</span></a>'
    )


def beside(found: Sequence[RunView], colours: Mapping[int, str]) -> str:
    """Runs beside each other: in what they differ, and their last figures."""
    rows: dict[str, list[Any]] = {
        "recipe": [one.run.recipe for one in found],
        "dataset": [one.run.dataset for one in found],
        "starts from": [one.run.parent for one in found],
        **differing_parameters(found),
    }
    for name in dict.fromkeys(name for one in found for name in one.last):
        rows[name] = [one.last.get(name) for one in found]
    rows |= {
        "took": [formatting.duration(one.seconds) for one in found],
        "processor": [formatting.duration(one.run.resources.get("cpu_seconds", 0.0)) for one in found],
        "memory": [formatting.size(1e6 * one.run.resources.get("memory_mb", 0.0)) for one in found],
        "state": [one.state for one in found],
        "model": [one.run.model for one in found],
    }
    head = "".join(f'<th><i style="background:{colours[one.id]}"></i>run {one.id}</th>' for one in found)
    lines = "".join(
        f"<tr><td>{escape(name)}</td>{''.join(f'<td>{escape(figure(value))}</td>' for value in values)}</tr>"
        for name, values in rows.items()
    )
    return f'<div class="t-beside"><table><thead><tr><th></th>{head}</tr></thead><tbody>{lines}</tbody></table></div>'
