"""Text as a reader sees it: signs of one look are one sign, the unseen is not there, escapes are what they stand for.

4<zero width space>111 and 4<keycap>111     ->  4111
jane<full-width @>acme.io, jane%40acme.io   ->  jane@acme.io
<b>4111</b>&nbsp;1111, 4111%201111          ->   4111  1111
"""

from __future__ import annotations

import html
import re
import string
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import unquote

from tenor.redaction import Span

_UNSEEN = frozenset({"Cf", "Mn", "Me"})
"""Format characters and marks."""
_FILLERS = frozenset("\u115f\u1160\u3164\uffa0")
"""Letters of Hangul that nobody sees."""
_DIGITS = {float(digit): str(digit) for digit in range(10)}
"""Of any script, in circles, brackets or with a dot."""
_PICTURES = frozenset({"So", "Cs"})
_SAME = dict.fromkeys("\u2010\u2011\u2012\u2212", "-") | {"\u3002": "."}
_QUOTED = frozenset(string.punctuation + " \t\r\n")
"""What stands escaped in a query; anything else behind a single % is a coincidence."""
_PRINTED = frozenset(string.printable)
_VALUE = r"(?:\"{1,2}[^\"<>]{0,300}\"{1,2}|'{1,2}[^'<>]{0,300}'{1,2}|[^\s<>\"']{1,300})"
_LAYOUT = (
    r"class|style|id|width|height|align|valign|colspan|rowspan|border|bgcolor|color|face|size|lang|dir|cell\w{1,9}"
)
_TAGS = "a|b|br|code|div|em|font|h\\d|i|li|ol|p|pre|small|span|strong|su[bp]|table|tbody|thead|t[dhr]|u|ul|wbr"
_COUNTER = r"[a-z-]{1,30}=[\"']?\d{0,2}[\"']?(?=[\s/>])"
_HEX = r"[\da-f]"
_ESCAPES = re.compile(
    rf"""
      (?P<label> </(?:th|dt|label)\s?> )
    | (?P<tag> </[a-z][\w:.-]{{0,60}}\s?>
             | <(?:{_TAGS}) (?: [\s+]{{1,9}} (?: (?:{_LAYOUT}) = {_VALUE} | {_COUNTER} ) ){{0,9}} \s{{0,9}} /?>
             | \x1b\[ [\d;]{{0,20}} [a-z] )
    | (?P<entity> & (?: (?: \#\d{{1,7}} | \#x{_HEX}{{1,6}} ) (?: ; | (?!\w) ) | [a-z]{{2,8}} ; ) )
    | (?P<percent> (?: % (?:25){{0,3}} {_HEX}{{2}} )+ )
    | (?P<slashed> \\{{1,4}}
        (?: u{_HEX}{{4}} | u\{{{_HEX}{{1,6}}\}} | x{_HEX}{{2}} | (?-i: [ntr](?![a-z]) | (?<=\d\\)[ntr] ) | ["'/] ) )
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Tags of layout, whose attributes say nothing, and all that close. Any others stay: they may hold or name a secret."""
_ESCAPING = re.compile(r"[<&%\\\x1b]")
_DEEPEST = 3
"""HTML in a query string in JSON."""
_ONCE_MORE = re.compile(r"%(?:25)+", re.IGNORECASE)


class PlainText(NamedTuple):
    text: str
    places: Sequence[int]
    """Where each character stood in the original, and where that ended."""

    def original(self, span: Span) -> Span:
        """With the unseen characters in it and right behind it."""
        return Span(self.places[span.start], self.places[span.end], span.kind)


def plain(text: str) -> PlainText:
    seen = _once(text)
    for _ in range(_DEEPEST - 1):
        if seen.text is text or not _ESCAPES.search(seen.text):
            break
        text, deeper = seen.text, _once(seen.text)
        if deeper.text == text:
            break
        seen = PlainText(deeper.text, [seen.places[place] for place in deeper.places])
    return seen


def _once(text: str) -> PlainText:
    ascii_only = text.isascii()
    if ascii_only and not _ESCAPING.search(text):
        return PlainText(text, range(len(text) + 1))
    seen: list[str] = []
    places: list[int] = []
    done = 0
    for escape in _ESCAPES.finditer(text):
        if (means := _meaning(escape)) != escape[0]:
            _look_at(text, done, escape.start(), seen, places)
            looks = "".join(map(_look, means))
            seen.append(looks)
            places += [escape.start()] * len(looks)
            done = escape.end()
    if ascii_only and not done:
        return PlainText(text, range(len(text) + 1))
    _look_at(text, done, len(text), seen, places)
    return PlainText("".join(seen), [*places, len(text)])


def _look_at(text: str, start: int, end: int, seen: list[str], places: list[int]) -> None:
    """Characters that stand for themselves."""
    piece = text[start:end]
    if piece.isascii():
        seen.append(piece)
        places += range(start, end)
        return
    for place, sign in enumerate(piece, start):
        if look := _look(sign):
            seen.append(look)
            places.append(place)


def _meaning(escape: re.Match[str]) -> str:
    """What an escape stands for; itself if nobody would write that so."""
    written = escape[0]
    match escape.lastgroup:
        case "label":
            return ":"
        case "tag":
            return " "
        case "entity":
            means = html.unescape(written)
            return means if len(means) == 1 else written
        case "percent":
            means = unquote(_ONCE_MORE.sub("%", written), errors="replace")
            return means if _is_escaped(means) else written
    sign = written.lstrip("\\")
    return chr(int(sign[1:].strip("{}"), 16)) if sign[0] in "uUxX" else sign if sign in "\"'/" else " "


def _is_escaped(means: str) -> bool:
    """Not `50%20`; several in a row are meant, whatever they are."""
    if "\ufffd" in means:
        return False
    return means in _QUOTED or not means.isascii() or (len(means) > 1 and set(means) <= _PRINTED)


def _look(sign: str) -> str:
    """One character; none if the sign is not seen."""
    if sign.isascii():
        return sign
    category = unicodedata.category(sign)
    if category in _UNSEEN or sign in _FILLERS:
        return ""
    if (digit := unicodedata.numeric(sign, -1)) in _DIGITS:
        return _DIGITS[digit]
    usual = unicodedata.normalize("NFKC", sign)
    if len(usual) == 1 and usual != sign:
        return _SAME.get(usual, usual)
    return " " if category in _PICTURES else _SAME.get(sign, sign)
