"""Text as a reader sees it: signs of one look are one sign, what is invisible is not there.

4<zero width space>111 and 4<keycap>111   ->  4111
jane<full-width @>acme.io                 ->  jane@acme.io
<b>4111</b>&nbsp;1111                     ->   4111  1111
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from tenor.redaction import Span

_UNSEEN = frozenset({"Cf", "Mn", "Me"})
"""Format characters and marks."""
_PICTURE = "So"
_MARKUP = re.compile(
    r"</?(?:a|b|br|code|div|em|font|h\d|i|li|p|pre|small|span|strong|t[dhr]|u)(?:\s[^<>]*)?/?>|&(?:nbsp|#160|#x0*a0);",
    re.I,
)
"""Of pages and mails that somebody pasted. Not just anything in brackets: an e-mail address may be."""


class PlainText(NamedTuple):
    text: str
    places: Sequence[int]
    """Where each character stood in the original, and where that ended."""

    def original(self, span: Span) -> Span:
        """With the unseen characters in it and right behind it."""
        return Span(self.places[span.start], self.places[span.end], span.kind)


def plain(text: str) -> PlainText:
    hidden = _hidden(text)
    if text.isascii() and not hidden:
        return PlainText(text, range(len(text) + 1))
    seen = [
        (look, place) for place, sign in enumerate(text) if (look := hidden[place] if place in hidden else _look(sign))
    ]
    return PlainText("".join(look for look, _ in seen), [*(place for _, place in seen), len(text)])


def _hidden(text: str) -> dict[int, str]:
    """Places of markup, each of which looks like a space."""
    found: dict[int, str] = {}
    for mark in _MARKUP.finditer(text) if "<" in text or "&" in text else ():
        found |= dict.fromkeys(range(*mark.span()), "") | {mark.start(): " "}
    return found


def _look(sign: str) -> str:
    """One character; none if the sign is not seen."""
    if sign.isascii():
        return sign
    if unicodedata.category(sign) in _UNSEEN:
        return ""
    usual = unicodedata.normalize("NFKC", sign)
    if len(usual) == 1 and usual != sign:
        return usual
    return " " if unicodedata.category(sign) == _PICTURE else sign
