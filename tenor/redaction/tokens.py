"""Text as tokens that remember where they stood.

A token is letters and digits; whatever else there is separates, and is kept as the signs before the next token:

    card=4111|1111           card, 4111 behind "=", 1111 behind "|"
    {"cardNumber":"4111"}    card, number, 4111 behind '":"'
    four.one.one             four, one, one

Some things are one token with signs in it, because only together they are what they are: digits with the usual signs
between them (`555-0199`, `1,500.00`, `03/03/1982`), amounts (`$5`, `5%`), a time of day, an e-mail address, and letters
with dots (`p.m.`, `gmail.com`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tenor.redaction.numbers.spoken import NUMBER_WORDS, UNITS

GROUPING = r"(),./*_\-\u2010-\u2015"
"""Signs that often stand between the groups of one number,"""
_INSIDE = r"()./\-\u2010-\u2015"
"""and those in what is one token."""
_CURRENCY = "$\u20ac\u00a3\u00a5\u20b9"
_LETTER = r"[^\W\d_]"
_PARTS = re.compile(
    rf"""
      (?P<mail> [^\W_] [\w.+'-]{{0,63}}+ @ (?: (?=[\d.-]*{_LETTER}) [^\W_]+ (?: [.-]+ [^\W_]+ )*+ | (?!\d) ) )
    | (?P<plan> (?<!\w) 40[13] \( [kb] \) )
    | (?P<day> (?<!\d) \d{{4}}-\d\d-\d\d (?=t\d\d:) )
    | (?P<time> (?: (?<=\d)t | (?<![\d:]) ) [012]?\d : [0-5]\d (?: : [0-5]\d (?: [.,]\d+ )? )?
        (?: z | [ap]m | [+-]\d\d:?\d\d )? (?! :?\d | {_LETTER} ) )
    | (?P<number>
        (?: (?<!\d) [{_CURRENCY}] | (?<!\w) R (?= \d{{1,3}} (?:,\d{{3}})+ (?!\d) )
          | (?<! [^\s("':=/>;] ) \+ | (?<! [^\W_] ) )
        \d++ (?! ['\u2019]s\b | {_LETTER} )
        (?: (?: [{_INSIDE}]++ \d++ | ,\d{{3}} (?!\d) ) (?! {_LETTER} ) )*+ (?: [{_CURRENCY}%\u00b0] (?!\w) )? )
    | (?P<dotted> {_LETTER}+ (?: \. {_LETTER}+ )++ (?!\d) )
    | (?P<word> [^\W_]+ (?: ['\u2019] {_LETTER}+ )*+ )
    | (?P<at> @ (?!\d) | (?<!\d) @ )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_CHUNK = re.compile(r"\S+")
_HUMPED = re.compile(r"[a-z]{2,}(?:[A-Z][a-z]+)+|(?:[A-Z][a-z]+){2,}(?=[\"'\\]*\s*[:=>])")
"""`cardNumber`; `CardNumber` only where it names a value."""
_KEY = re.compile(r"[\"'\\]*[:=]")
_HUMP = re.compile(r"[A-Z]?[a-z]+")
_MONTH = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_GLUED = re.compile(
    rf"\d{{0,4}}(?:{_MONTH})[a-z]{{0,6}}\d{{1,4}}|\d{{1,4}}(?:{_MONTH})[a-z]{{0,6}}|{_LETTER}{{3,}}\d{{3,}}(?:{_LETTER}{{2,}})?|\d{{4,}}{_LETTER}{{2,}}|(?:{_LETTER}|{_LETTER}{{3,}})?\d{{13,}}{_LETTER}*",
    re.IGNORECASE,
)
"""`ref48213`, `48213EUR`, `4jul1982`; not `GB29NWBK`, an IBAN, nor `X1234567`."""
_DIGIT_WORD = "|".join(word for word in UNITS if len(word) > 2)
_WRITTEN_OUT = re.compile(rf"(?:\d*(?:{_DIGIT_WORD})){{3,}}\d*", re.IGNORECASE)
"""`fouroneoneone`, `four1one1two1`."""
_DIGITS_OR_WORDS = re.compile(rf"\d+|{_DIGIT_WORD}", re.IGNORECASE)
_SHORTEST = 9
"""Letters of three such words."""
_PARTED = re.compile(rf"\d+({_LETTER}{{1,2}})\d+(?:\1\d+){{2,}}|\d+x\d+x\d+", re.IGNORECASE)
"""`4111x1111x1111x1111`."""
_LETTER_AND_WORD = re.compile(rf"{_LETTER}\.{_LETTER}{{2}}")
"""`C.txt`."""
_NUMBER_FIRST = re.compile(rf"\d+(?!(?:st|nd|rd|th)$){_LETTER}{{2,}}")
_NUMBER_LAST = re.compile(rf"{_LETTER}{{2,}}\d+")
_DIGITS_BEFORE = re.compile(r"\d\W{1,3}\Z")
_DIGITS_BEHIND = re.compile(r"\W{1,3}\d")
_LETTERS_OR_DIGITS = re.compile(rf"\d+|{_LETTER}+")
_LETTERS = re.compile(rf"{_LETTER}+")


class Token(NamedTuple):
    core: str
    """Lower case, with a straight apostrophe."""
    start: int
    end: int
    """In characters of the text."""
    chunk: int
    """Which of the text's words it belongs to: only blanks part words."""
    lead: str
    """What stands between the token before and this one."""


def tokenise(text: str) -> list[Token]:
    tokens: list[Token] = []
    done = 0
    for number, chunk in enumerate(_CHUNK.finditer(text)):
        for start, end in _parts(text, *chunk.span()):
            core = text[start:end].lower().replace("\u2019", "'")
            tokens.append(Token(core, start, end, number, text[done:start]))
            done = end
    return tokens


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where the tokens of one chunk begin and end."""
    chunk = text[start:end]
    if (
        chunk.isalpha()
        and (chunk.islower() or chunk.istitle())
        and (len(chunk) < _SHORTEST or not _WRITTEN_OUT.fullmatch(chunk))
    ):
        yield start, start + len(chunk)
        return
    for part in _PARTS.finditer(text, start, end):
        if inner := _inner(text, part):
            yield from (one.span() for one in inner.finditer(text, *part.span()))
        else:
            yield part.span()


def _inner(text: str, part: re.Match[str]) -> re.Pattern[str] | None:
    """What the tokens of this part look like, if it is several."""
    if part.lastgroup == "word":
        if (humped := _HUMPED.match(text, part.start())) and humped.end() == part.end():
            return _HUMP
        if len(part[0]) >= _SHORTEST and _WRITTEN_OUT.fullmatch(part[0]):
            return _DIGITS_OR_WORDS
        return _LETTERS_OR_DIGITS if _is_glued(text, part) else None
    if part.lastgroup == "dotted":
        counted = NUMBER_WORDS.issuperset(part[0].lower().split("."))
        if counted or _LETTER_AND_WORD.match(part[0]) or _KEY.match(text, part.end()):
            return _LETTERS
    return None


def _is_glued(text: str, part: re.Match[str]) -> bool:
    """Whether a number and words were written without a blank; beside other numbers one digit is enough."""
    word, start, end = part[0], *part.span()
    if word.isalpha() or word.isdigit():
        return False
    return bool(
        _GLUED.fullmatch(word)
        or _PARTED.fullmatch(word)
        or (_NUMBER_FIRST.fullmatch(word) and _DIGITS_BEFORE.search(text[max(0, start - 4) : start]))
        or (_NUMBER_LAST.fullmatch(word) and _DIGITS_BEHIND.match(text, end))
    )
