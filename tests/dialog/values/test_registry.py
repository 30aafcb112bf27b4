"""Parsers by name or import path; a wrong one is told with a way out."""

from __future__ import annotations

import pytest

from dialog.values.registry import TYPES, parser
from dialog.values.types import ParseContext, Value
from tenor.errors import BadInput


class OwnParser:
    def find(self, line: str, context: ParseContext) -> list[Value]:
        return []

    def answer(self, line: str, context: ParseContext) -> Value | None:
        return None


class NoParser:
    pass


class Demanding(OwnParser):
    def __init__(self, needed: str) -> None:
        self.needed = needed


@pytest.mark.parametrize("kind", sorted(TYPES))
def test_every_type_that_ships_has_a_parser(kind: str) -> None:
    assert parser(kind) is parser(kind)


def test_an_author_brings_a_parser_by_import_path() -> None:
    assert isinstance(parser(f"{__name__}:OwnParser"), OwnParser)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("plase", "There is no slot type 'plase'."),
        ("", "There is no slot type"),
        (":", "There is no slot type"),
        ("no.such.module:Class", "cannot be made"),
        (f"{__name__}:Missing", "cannot be made"),
        (f"{__name__}:Demanding", "cannot be made"),
        (f"{__name__}:NoParser", "has no method find"),
    ],
)
def test_a_wrong_type_is_told_with_a_way_out(kind: str, said: str) -> None:
    with pytest.raises(BadInput) as told:
        parser(kind)
    assert said in told.value.message
    assert told.value.hint
