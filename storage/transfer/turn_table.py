"""Conversations with the assistant as a table: one row per turn."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any

import msgspec

from storage.tables import Turn
from storage.transfer.exporter import harmless
from storage.transfer.vcon import iso
from tenor.taxonomy.assistant import printed_intent

COLUMNS = ("call", "turn", "time", "input", "intent", "score", "slots", "state", "actions", "replies")
OF_ACTION = ("name", "arguments", "result", "error")


def turn_table(turns: Iterable[Turn], *, header: bool = True) -> str:
    """As RFC 4180 has it. Slots and actions are JSON; replies are one text."""
    made = io.StringIO()
    writer = csv.writer(made, lineterminator="\r\n")
    if header:
        writer.writerow(COLUMNS)
    for turn in turns:
        writer.writerow([harmless(cell) for cell in _cells(turn)])
    return made.getvalue()


def _cells(turn: Turn) -> list[Any]:
    actions = [{name: action.get(name) for name in OF_ACTION} for action in turn.actions]
    return [
        turn.call,
        turn.turn,
        iso(turn.at),
        turn.input,
        printed_intent(turn.intent),
        turn.intent_score,
        _json(turn.slots),
        turn.state,
        _json(actions),
        " ".join(str(reply.get("text", "")) for reply in turn.replies),
    ]


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode() if value else ""
