"""Numbers with letters in them: passports, licences, IBANs, postal codes; written, or spelled out.

my passport number is X1234567        ->  my passport number is [account]
a b four eight two one three x y      ->  [number]
GB29 NWBK 6016 1331 9268 19           ->  [account]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tenor.redaction.numbers import BETWEEN
from tenor.redaction.utterance import Utterance
from tenor.redaction.verdicts import CUES, alone, announced, context, measured

_DIGIT = re.compile(r"\d")
_MIXED = re.compile(r"(?=[^a-z]*[a-z])(?=\D*\d)[a-z\d]+(?:[-/.][a-z\d]+)*")
_COUNTED = re.compile(r"\d+(st|nd|rd|th|s|am|pm|k|g|p|x|h|m|gb|mb|tb|mbps|gbps|kg|km|cm|mm|ft|hrs?|mins?|ghz|hz|px)")
_IBAN = re.compile(r"[a-z]{2}\d\d[a-z\d]*")
_SHORTEST_IBAN, _LONGEST_IBAN = 15, 34
_INSURANCE = re.compile(r"[a-z]{2}\d{6}[a-d]")
"""The United Kingdom's national insurance number."""
_POSTCODE = re.compile(r"[a-z]{1,2}\d[a-z\d]?\d[a-z]{2}|[a-z]\d[a-z]\d[a-z]\d")
"""Of the United Kingdom and of Canada."""
_WORDS = frozenset({"a", "i"})


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
    if not said.runs and not _DIGIT.search(said.text):
        return
    at = 0
    while at < len(said.tokens):
        code = _iban(said, at) or _code(said, at)
        if code is not None:
            yield code
        at = code.last + 1 if code else at + 1


def code_kind(code: Code, said: Utterance, *, every: bool) -> str:
    """The kind of a code; empty for one that may be seen. `every`: all that are read out are secret."""
    found, _ = context(said, code.first)
    if valid_iban(code.text) or _INSURANCE.fullmatch(code.text):
        return "account"
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
    if not _IBAN.fullmatch(text) or not _SHORTEST_IBAN <= len(text) <= _LONGEST_IBAN:
        return False
    return int("".join(str(int(sign, 36)) for sign in text[4:] + text[:4])) % 97 == 1


def coded(said: Utterance, at: int) -> bool:
    """Whether the token may be part of a code: `x`, `AB`, `X12`, any digits."""
    run = said.run_at(at)
    if run is not None:
        return not run.scaled and not measured(run, said)
    core = said.core(at)
    return _letters(said, at) or bool(_MIXED.fullmatch(core) and not _COUNTED.fullmatch(core))


def _letters(said: Utterance, at: int) -> bool:
    """One letter, or two to five capitals that are no word; two small ones beside digits."""
    core = said.core(at)
    if not core.isalpha() or not core.isascii() or len(core) > 5:
        return False
    token = said.tokens[at]
    capital = said.text[token.start : token.end].isupper()
    beside = len(core) == 2 and (said.run_at(at - 1) or said.run_at(at + 1))
    return len(core) == 1 or (said.strange(at) and core not in CUES and bool(capital or beside))


def _code(said: Utterance, first: int) -> Code | None:
    """The code that begins at token `first`: signs in a row, with letters and digits among them."""
    if not coded(said, first) or (said.core(first) in _WORDS and not _spelled(said, first + 1)):
        return None
    text, last, at = "", first, first
    while at < len(said.tokens):
        core, run = said.core(at), said.run_at(at)
        if core in BETWEEN and text:
            at += 1
            continue
        ends = said.stops_after(at) or coded(said, at + 1)
        if not coded(said, at) or (core in _WORDS and not ends):
            break
        text += run.digits if run else "".join(filter(str.isalnum, core))
        last = run.last if run else at
        at = last + 1
        if said.stops_after(last):
            break
    mixed = any(map(str.isdigit, text)) and any(map(str.isalpha, text))
    return Code(first, last, text) if mixed else None


def _spelled(said: Utterance, at: int) -> bool:
    return len(said.core(at)) == 1 and said.core(at).isalpha() and said.core(at) not in _WORDS


def _iban(said: Utterance, first: int) -> Code | None:
    """An IBAN in any number of groups, whatever the case of its letters."""
    if not _IBAN.fullmatch(said.core(first)):
        return None
    text = ""
    for at in range(first, min(first + _LONGEST_IBAN, len(said.tokens))):
        text += said.core(at).replace("-", "")
        if valid_iban(text):
            return Code(first, at, text)
    return None
