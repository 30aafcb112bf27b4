"""Numbers with letters in them: passports, licences, IBANs, postal codes; written, or spelled out.

my passport number is X1234567        ->  my passport number is [account]
a b four eight two one three x y      ->  [number]
GB29 NWBK 6016 1331 9268 19           ->  [account]
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from typing import NamedTuple

from tenor.redaction.numbers.cues import CUES
from tenor.redaction.numbers.runs import BETWEEN, apart, is_card, label
from tenor.redaction.numbers.verdicts import alone, announced, context, measured
from tenor.redaction.ordinary import ORDINARY
from tenor.redaction.streets import is_zip
from tenor.redaction.utterance import Utterance

_DIGITS = re.compile(r"\d+")
_GROUPS = re.compile(r"[^\W_]+")
_MIXED = re.compile(r"(?=[a-z\d]*\d)(?=[a-z\d]*[a-z])[a-z\d]+")
_COUNTED = re.compile(r"\d+(st|nd|rd|th|s|am|pm|k|g|p|x|h|m|gb|mb|tb|mbps|gbps|kg|km|cm|mm|ft|hrs?|mins?|ghz|hz|px)")
_IBAN = re.compile(r"[a-z]{2}\d\d[a-z\d]*")
_BEGINS = re.compile(r"[a-z]{2}\d|[a-z]{1,2}$")
_GROWS = re.compile(r"[a-z]{1,2}|[a-z]{2}\d[a-z\d]*")
"""What may become an IBAN or an insurance number."""
_LENGTHS_OF_IBANS = """
ad24 ae23 al28 at20 az28 ba20 be16 bg22 bh22 bi27 br29 by28 ch21 cr22 cy28 cz24 de22 dj27 dk18 do28 ee20 eg29 es24 fi18
fk18 fo18 fr27 gb22 ge22 gi23 gl18 gr27 gt28 hr21 hu28 ie22 il23 iq23 is26 it27 jo30 kw30 kz20 lb28 lc32 li21 lt20 lu20
lv21 ly25 mc27 md24 me22 mk19 mn20 mr27 mt31 mu30 ni28 nl18 no15 om23 pk24 pl28 ps29 pt25 qa29 ro24 rs22 ru33 sa24 sc31
sd18 se24 si19 sk24 sm27 so23 st25 sv28 tl23 tn24 tr26 ua29 va22 vg24 xk20
"""
IBANS = {one[:2]: int(one[2:]) for one in _LENGTHS_OF_IBANS.split()}
"""How long the IBANs of a country are."""
_LONGEST = max(IBANS.values())
_INSURANCE = re.compile(r"[a-z]{2}\d{6}[a-d]")
"""The United Kingdom's national insurance number."""
_POSTCODE = re.compile(r"[a-z]{1,2}\d[a-z\d]?\d[a-z]{2}|[a-z]\d[a-z]\d[a-z]\d")
"""Of the United Kingdom and of Canada."""
_WORDS = frozenset({"a", "i"})
_LOOKS_LIKE = str.maketrans("oil", "011")
"""Letters that are written for digits."""


class Code(NamedTuple):
    first: int
    last: int
    """Tokens, both included."""
    text: str
    """Its letters and digits, lower case."""

    @property
    def digits(self) -> int:
        return sum(map(str.isdigit, self.text))

    @property
    def is_postcode(self) -> bool:
        return bool(_POSTCODE.fullmatch(self.text))


def codes(said: Utterance) -> Iterator[Code]:
    if not said.runs and not _DIGITS.search(said.text):
        return
    sure = {code.first: code for code in formed(said)}
    at = 0
    while at < len(said.tokens):
        if at not in sure and _plain_word(said, at):
            at += 1
            continue
        code, end = (sure[at], sure[at].last + 1) if at in sure else _code(said, at, sure)
        if code is not None:
            yield code
        at = end


def formed(said: Utterance) -> Iterator[Code]:
    """Those that are known by their form, whatever is said around them."""
    if not said.runs and not _DIGITS.search(said.text):
        return
    free = 0
    for at, token in enumerate(said.tokens):
        if at >= free and _BEGINS.match(token.core) and (code := _formed(said, at)):
            yield code
            free = code.last + 1


def code_kind(code: Code, said: Utterance, *, every: bool) -> str:
    """The kind of a code; empty for one that may be seen. `every`: all that are read out are secret."""
    found, _ = context(said, code.first)
    if _has_form(code.text):
        return "account"
    if any(is_card(digits) for digits in _DIGITS.findall(code.text.translate(_LOOKS_LIKE))):
        return "card"
    if is_zip(said, code.last) and code.last == code.first + 1:
        return ""
    if found in ("card", "account") and code.digits >= 3 and len(code.text) >= 5:
        return found
    if code.is_postcode:
        return "address"
    if found == "order":
        return "number" if every and code.digits >= 3 else ""
    if code.digits >= 6:
        return "account"
    told = announced(code.first, said) and said.stops_after(code.last)
    read_out = code.digits >= 4 and alone(code.first, code.last, said)
    return "number" if (told or every or read_out) and code.digits >= 3 else ""


def valid_iban(text: str) -> bool:
    """Whether the check digits fit: moved to the end, letters as numbers, the rest of a division by 97 is 1."""
    if not _IBAN.fullmatch(text) or len(text) != IBANS.get(text[:2]):
        return False
    return int("".join(str(int(sign, 36)) for sign in text[4:] + text[:4])) % 97 == 1


def coded(said: Utterance, at: int) -> bool:
    """Whether the token may be part of a code: `x`, `AB`, `X12`, any digits."""
    run = said.run_at(at)
    if run is not None:
        return not run.scaled and not measured(run, said)
    core = said.core(at)
    return _letters(said, at) or bool(_MIXED.fullmatch(core) and not _COUNTED.fullmatch(core))


def _plain_word(said: Utterance, at: int) -> bool:
    """Most are, and no part of a code."""
    core = said.tokens[at].core
    return len(core) > 2 and core.isalpha() and said.text[said.tokens[at].start].islower() and said.run_at(at) is None


def _letters(said: Utterance, at: int) -> bool:
    """One letter, or two to five capitals that are no word; two small ones beside digits."""
    core = said.core(at)
    if not core.isalpha() or not core.isascii() or len(core) > 5:
        return False
    token = said.tokens[at]
    capital = said.text[token.start : token.end].isupper()
    beside = len(core) == 2 and (said.run_at(at - 1) or said.run_at(at + 1))
    return len(core) == 1 or (said.strange(at) and core not in CUES and bool(capital or beside))


def _code(said: Utterance, first: int, others: Container[int]) -> tuple[Code | None, int]:
    """The code that begins at token `first`, signs in a row with letters and digits among them, and where it ends."""
    if not coded(said, first) or (said.core(first) in _WORDS and not _spelled(said, first + 1)):
        return None, first + 1
    text, last, at = "", first, first
    named = label(said.tokens, first)[0] in ("card", "account")
    while at < len(said.tokens):
        core, run = said.core(at), said.run_at(at)
        if text and (at in others or said.tokens[at].lead == "(" or (apart(said.tokens, at) and not named)):
            break
        if core in BETWEEN and text:
            at += 1
            continue
        ends = (said.stops_after(at) and not named) or coded(said, at + 1)
        if not coded(said, at) or (core in _WORDS and not ends):
            break
        text += run.digits if run else "".join(filter(str.isalnum, core))
        last = run.last if run else at
        at = last + 1
        if said.stops_after(last) and not named:
            break
    mixed = any(map(str.isdigit, text)) and any(map(str.isalpha, text))
    return Code(first, last, text) if mixed else None, last + 1


def _spelled(said: Utterance, at: int) -> bool:
    return len(said.core(at)) == 1 and said.core(at).isalpha() and said.core(at) not in _WORDS


def _formed(said: Utterance, first: int) -> Code | None:
    """An IBAN or an insurance number in any number of groups, with any signs between them."""
    text = ""
    for at in range(first, min(first + _LONGEST, len(said.tokens))):
        if len(said.core(at)) > 1 and said.core(at) in ORDINARY:
            return None
        for group in _GROUPS.findall(said.core(at)):
            text += group
            if not _GROWS.fullmatch(text):
                return None
            if _has_form(text):
                return Code(first, at, text)
    return None


def _has_form(text: str) -> bool:
    return valid_iban(text) or bool(_INSURANCE.fullmatch(text))
