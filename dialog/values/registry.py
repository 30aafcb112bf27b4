"""Parsers by the name of their type, or by import path."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from dialog.values.types import Parser
from tenor.errors import BadInput

TYPES = {
    "choice": "dialog.values.choice:ChoiceParser",
    "color": "dialog.values.shop.color:ColorParser",
    "item": "dialog.values.shop.item:ItemParser",
    "number": "dialog.values.number:NumberParser",
    "place": "dialog.values.place.parser:PlaceParser",
    "price": "dialog.values.shop.price:PriceParser",
    "quantity": "dialog.values.quantity:QuantityParser",
    "size": "dialog.values.shop.size:SizeParser",
    "sort": "dialog.values.shop.sort:SortParser",
    "store": "dialog.values.shop.store:StoreParser",
    "text": "dialog.values.text:TextParser",
    "units": "dialog.values.units:UnitsParser",
    "when": "dialog.values.when.parser:WhenParser",
    "yes_no": "dialog.values.yes_no:YesNoParser",
}


@cache
def parser(kind: str) -> Parser:
    """The parser of a type that ships, or of the author's own, `package.module:Class`, made without arguments.

    One instance serves every conversation. Item and store parsers that know a catalogue are made by whoever has one.
    """
    path = TYPES.get(kind, kind)
    module_name, colon, class_name = path.partition(":")
    if not (colon and module_name and class_name):
        raise BadInput(
            f"There is no slot type {kind!r}.",
            f"Use one of {', '.join(sorted(TYPES))}, or package.module:Class for a parser of your own.",
        )
    try:
        made = getattr(import_module(module_name), class_name)()
    except BadInput:
        raise
    except Exception as error:
        raise BadInput(
            f"The parser {path} of a slot type cannot be made: {error}.",
            "Check that the module can be imported from here and that its class takes no arguments.",
        ) from error
    for method in ("find", "answer"):
        if not callable(getattr(made, method, None)):
            raise BadInput(
                f"The parser {path} has no method {method}.",
                "A parser has find(line, context) and answer(line, context): see dialog/values/types.py.",
            )
    return made  # type: ignore[no-any-return]
