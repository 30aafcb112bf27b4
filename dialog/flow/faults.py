"""What is wrong with an assistant: every mistake at its place, over all of its files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from rapidfuzz import fuzz, process

from dialog.flow.model import Where
from tenor.errors import BadInput
from tenor.yaml.nodes import Place

MOST_SHOWN = 20
"""Faults in the message of an error; `faults` has them all."""

Severity = Literal["fault", "warning"]


@dataclass(frozen=True, slots=True, order=True)
class FlowFault:
    """One mistake. A warning is something that works, and that nobody will have meant."""

    where: Where
    message: str
    severity: Severity = "fault"

    def __str__(self) -> str:
        warning = "warning: " if self.severity == "warning" else ""
        return f"{self.where.file}:{self.where.line}:{self.where.column}: {warning}{self.message}"


def fault(where: Where, message: str) -> FlowFault:
    return FlowFault(where, message)


def warning(where: Where, message: str) -> FlowFault:
    return FlowFault(where, message, "warning")


def unknown(where: Where, kind: str, name: str, known: Iterable[str]) -> FlowFault:
    return FlowFault(where, f"there is no {kind} {name!r}{meant(name, known)}")


def meant(name: str, known: Iterable[str]) -> str:
    """As tenor.yaml tells it, and quickly where a thousand wrong names meet a thousand states."""
    names = sorted(known)
    near = process.extractOne(name, names, scorer=fuzz.ratio, score_cutoff=65)
    if near is not None:
        return f"; did you mean {near[0]!r}?"
    return f"; there are: {', '.join(names)}" if 0 < len(names) <= 20 else ""


def place_of(file: str, place: Place) -> Where:
    return Where(file, place.line, place.column)


class FaultyAssistant(BadInput):
    """An assistant with mistakes, one per line, as compilers tell them."""

    def __init__(self, faults: Iterable[FlowFault], warnings: Iterable[FlowFault] = ()) -> None:
        self.faults = sorted(set(faults))
        self.warnings = sorted(set(warnings))
        told = [str(one) for one in self.faults[:MOST_SHOWN]]
        if len(self.faults) > MOST_SHOWN:
            told.append(f"and {len(self.faults) - MOST_SHOWN} more")
        super().__init__("\n".join(told), "`tenor assistant check` shows all of them, and warnings")
