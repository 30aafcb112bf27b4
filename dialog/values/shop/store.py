"""Stores: like products, by the names of the stores that are known.

value the store as text: its own name if it is known, else the words without "the" and "store"
"""

from __future__ import annotations

from dialog.values.shop.item import ItemParser
from dialog.values.tokens import Token, word_set

AROUND = word_set("store shop branch location one")


class StoreParser(ItemParser):
    """Reads type `store`; "the Target store" is Target, but "the toy store" stays what it is."""

    kind = "store"

    def _clean(self, tokens: list[Token], first: int, last: int) -> tuple[int, int]:
        first, last = super()._clean(tokens, first, last)
        named = self.catalogue.exact(tuple(token.key for token in tokens[first : last - 1]))
        if last - first > 1 and tokens[last - 1].key in AROUND and named is not None:
            last -= 1
        return first, last
