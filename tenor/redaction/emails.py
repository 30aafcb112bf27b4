"""E-mail addresses, written or spoken: `john.smith@gmail.com`, `john dot smith at gmail dot com`."""

from __future__ import annotations

import re

from tenor.redaction.numbers import TEENS, TENS, TIMES, UNITS
from tenor.redaction.tokens import Token

_ENDINGS = """
com net org edu gov io co uk de fr it es eu us ca au in nl ch at biz info me tv
"""
ENDINGS = frozenset(_ENDINGS.split())
_WRITTEN = re.compile(r"\S+@\S+")
_DOMAIN = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)*\.(" + "|".join(sorted(ENDINGS)) + ")")
JOINTS = frozenset({"dot", "underscore", "dash", "hyphen", "period", "plus", "minus"})
_STOP = """
is it's its i'm my your his her their email e-mail mail address to me on the a an and at or ok okay sure yes
yeah yep um uh er that's thats by use with was it so for from send of you're see look meet me've can will
"""
STOP = frozenset(_STOP.split())
_SPELLED = frozenset(UNITS) | frozenset(TEENS) | frozenset(TENS) | frozenset(TIMES)


def emails(tokens: list[Token], *, final: bool, stop: frozenset[str] = frozenset()) -> list[tuple[int, int]]:
    """First and last token of each address; of an interim also one that is only begun at its end.

    Words of `stop` begin no address either."""
    stop |= STOP
    found: list[tuple[int, int]] = []
    for at, token in enumerate(tokens):
        if found and at <= found[-1][1]:
            continue
        free_from = found[-1][1] + 1 if found else 0
        if "@" in token.core and (_WRITTEN.fullmatch(token.core) or token.core.endswith("@")):
            found.append((at, _domain(tokens, at + 1, begun=True)))
        elif token.core == "at":
            last = _domain(tokens, at + 1)
            if last > at:
                found.append((_local(tokens, at, free_from, stop), last))
    if not final and (begun := _begun(tokens, found[-1][1] + 1 if found else 0, stop)):
        found.append(begun)
    return found


def _domain(tokens: list[Token], at: int, *, begun: bool = False) -> int:
    """Last token of the domain that starts at `at`; the token before it when there is none."""
    none = at - 1
    if begun and tokens[none].core.rpartition(".")[2] in ENDINGS:
        return none
    if at < len(tokens) and _DOMAIN.fullmatch(tokens[at].core):
        return at
    last = none
    for place in range(at, min(at + 10, len(tokens) - 1)):
        if tokens[place].core == "dot" and (place > at or begun):
            if tokens[place + 1].core in ENDINGS:
                last = place + 1
        elif (last > none and place > last) or (tokens[place].core in STOP and place != last):
            break
    return last


def _local(tokens: list[Token], at: int, free_from: int, stop: frozenset[str]) -> int:
    """First token of what stands before `at`: letters, digits and words up to one that begins no address."""
    first, words = at, 0
    while first > free_from:
        core = tokens[first - 1].core
        joint = core in JOINTS or (first < at and tokens[first].core in JOINTS)
        spelled = len(core) == 1 or core.isdigit() or core in _SPELLED
        if not joint and not spelled:
            if core in stop or words == 3:
                break
            words += 1
        first -= 1
    return first if first < at else at


def _begun(tokens: list[Token], free_from: int, stop: frozenset[str]) -> tuple[int, int] | None:
    """`john dot smith at g` at the end of an interim."""
    end = len(tokens) - 1
    for at in range(end, max(free_from, end - 6), -1):
        core = tokens[at].core
        if core == "at" and at > free_from and any(t.core in ("dot", "underscore") for t in tokens[at - 4 : at]):
            return _local(tokens, at, free_from, stop), end
        if core in ("dot", "underscore") and at >= end - 1 and at > free_from:
            return _local(tokens, at, free_from, stop), end
    return None
