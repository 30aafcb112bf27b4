"""Slots that an assistant has without declaring any: the white paper's files name `location` and declare nothing."""

from __future__ import annotations

import dataclasses
from typing import Final

from dialog.flow.model import Assistant, Slot, Where

_HERE: Final = Where("", 1, 1)
_TYPES: Final = {
    "location": "place",
    "when": "when",
    "item": "item",
    "store": "store",
    "sort": "sort",
    "quantity": "quantity",
    "size": "size",
    "color": "color",
    "price": "price",
}
_OF_THE_ITEM: Final = ("quantity", "size", "color", "price")

USUAL_SLOTS: Final = {
    name: Slot(
        name=name,
        type=kind,
        where=_HERE,
        keep="turn" if name == "sort" else "topic",
        depends_on=("item",) if name in _OF_THE_ITEM else (),
    )
    for name, kind in _TYPES.items()
}


def with_slots(assistant: Assistant) -> Assistant:
    """The assistant as it is, or with the usual slots when it declares none."""
    return assistant if assistant.slots else dataclasses.replace(assistant, slots=USUAL_SLOTS)
