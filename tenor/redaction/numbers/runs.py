"""Runs of digits, written or spoken: `4111 1111`, `four one double one`, `forty-one eleven`, `4111|1111|1111|1111`.

Numbers beside each other are one run if only the usual signs are between them. Any other sign (`=`, `|`, `:`, `+`)
mostly parts numbers that have nothing to do with each other, so a new run begins, unless they have the form of a secret
together, or a label says what they are:

    12 | 1500 | 2024              three runs
    4111|1111|1111|1111           one: a card's check digit fits
    123:45:6789, 555=123=4567     one: grouped as such numbers are
    sort code: 20|00|00           one: labelled
    four|one|one                  one: nobody counts like that
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

from tenor.redaction.numbers.cues import REACH, SHORT, labelled
from tenor.redaction.numbers.spoken import MANY, NUMBER_WORDS, SCALES, SOUND_ALIKE, TEENS, TENS, TIMES, UNITS
from tenor.redaction.tokens import GROUPING, Token

BETWEEN = frozenset({"uh", "um", "er", "erm", "uhm", "dash", "hyphen", "space", "then", "slash"})
"""May stand inside a number that is being read out."""
_SAID = "dot period comma colon semicolon underscore pipe bar stroke backslash star asterisk hash tilde"
_SAID_SIGNS = frozenset(_SAID.split())
_LOOSELY = r"[^\w\s=+&^%\\@$]*"
_TIGHT = re.compile(rf"[{GROUPING}]*|{_LOOSELY}\s+{_LOOSELY}|\s+(?:[-\u2013\u2014/]|\.+|\u2026)\s+")
"""What stands inside one number. Signs between blanks part (`12 | 15`), but for dashes and dots."""
_WRITTEN = re.compile(rf"\+?\d[\d{GROUPING}]*")
_GROUP = re.compile(r"(\D*)(\d+)")
_QUANTITY = re.compile(r"\d{1,3}(,\d{3})+\.\d+|\d+\.\d{1,2}|\d{1,2}(\.\d)?/(5|10|100)")
_THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+")
_CLOCK = re.compile(r"\d{1,2}(:\d\d)+")
_COUNTS = frozenset("23456789")
_ADDING = frozenset("+=")
_SIGNS = re.compile(r"^[\W_]+|[\W_]+$")
_OH = frozenset({"oh", "o"})
_ISSUED = re.compile(r"4|5[0-8]|2[2-7]|3[04-9]|6|8[12]|9792")
"""How card numbers begin."""
_CARD = range(13, 20)
"""How many digits a card number has."""
_PRINTED = {
    (4, 4, 4, 4),
    (4, 6, 5),
    (4, 6, 4),
    (6, 13),
    (4, 4, 4, 4, 3),
    (4, 4, 4, 1),
    (4, 4, 5),
    (4, 4, 4, 3),
    (4, 4, 4, 2),
}
"""The groups of card numbers."""
_HALVES = {(8, 8), (4, 12), (12, 4), (4, 4, 8), (8, 4, 4), (4, 8, 4), (4, 11), (4, 10)}
"""Those that are told in parts, with words between."""
_LARGE = 3
"""Digits of a group of them; smaller ones between them may count the groups."""
_FAR = 60
"""Characters between two groups of one number."""
_FORMS = {(3, 2, 4), (3, 3, 4), (1, 3, 3, 4), (2, 3, 3, 4), (2, 2, 4, 4), (2, 3, 4, 4), (3, 4, 4), (4, 3, 4), (5, 3, 3)}
"""The groups of social security and telephone numbers."""


class Group(NamedTuple):
    """Digits with nothing between them."""

    first: int
    last: int
    """Tokens, both included: `double four` are two."""
    digits: str
    lead: str
    """The signs before them."""


@dataclass(frozen=True, slots=True)
class Run:
    first: int
    last: int
    """Tokens, both included."""
    digits: str
    spelled: bool
    """Digit by digit, in words; also where a recogniser made hundreds of three of them."""
    pieces: int
    """In how many numbers it was said: `forty one eleven` and `555-0199` are two."""
    plus: bool
    """Began with +."""
    scaled: bool
    """`five hundred`, `1,500`, `three point two`: one quantity. Several in a row are a number that is read out."""
    groups: tuple[Group, ...] = ()
    of_card: bool = False
    """A part of a card number whose parts have words between them."""


def runs(tokens: Sequence[Token]) -> list[Run]:
    found = []
    at = 0
    while at < len(tokens):
        if tokens[at].core.isalpha() and tokens[at].core not in NUMBER_WORDS:
            at += 1
            continue
        run, end = _run(tokens, at, tokens[at].core)
        if run is None:
            run, _ = _card_behind_a_sign(tokens, at)
            end = run.last + 1 if run else end
        if run is not None:
            found.append(run)
        at = end
    found = [part for chain in _chains(tokens, found) for part in _parted(tokens, chain)]
    scattered = _scattered(tokens, found)
    return [replace(run, of_card=True) if at in scattered else run for at, run in enumerate(found)]


def without(found: Sequence[Run], taken: Container[int]) -> Iterator[Run]:
    """What is left of the runs but for these tokens."""
    for run in found:
        left = [group for group in run.groups if group.first not in taken and group.last not in taken]
        if len(left) == len(run.groups):
            yield run
        for _, part in groupby(enumerate(left), key=lambda place: run.groups.index(place[1]) - place[0]):
            if len(left) < len(run.groups):
                yield _joined([run], [group for _, group in part])


def is_card(digits: str) -> bool:
    """Whether it is as long as a card number, with a check digit that fits."""
    return len(digits) in _CARD and luhn(digits)


def is_issued(text: str) -> bool:
    """Whether the digits in a text are a card number of a network."""
    digits = "".join(filter(str.isdigit, text))
    return is_card(digits) and bool(_ISSUED.match(digits))


def luhn(digits: str) -> bool:
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def apart(tokens: Sequence[Token], at: int) -> bool:
    """Whether the signs before token `at` part numbers."""
    lead = tokens[at].lead
    return lead != " " and not _TIGHT.fullmatch(lead)


def _run(tokens: Sequence[Token], first: int, core: str) -> tuple[Run | None, int]:
    """The run that begins at `first`, read as `core`, and where to look for the next one."""
    at, last, quantities = first, first, 0
    groups: list[Group] = []
    scale = ""
    spelled, plus, any_scale = True, False, False
    while at < len(tokens):
        core = tokens[at].core if at > first else core
        if groups and apart(tokens, at):
            break
        if groups and core in BETWEEN:
            at += 1
            continue
        if groups and core in SCALES and not scale:
            scale, any_scale = core, True
            last, at = at, at + 1
            continue
        piece, used = _piece(tokens, at, core)
        if not piece and spelled and quantities >= 2:
            piece, used = _misheard(tokens, at)
        if not piece:
            break
        plus = plus or (not groups and core.startswith("+"))
        any_scale = any_scale or bool(_THOUSANDS.fullmatch(core))
        if scale == "hundred" and len(piece) <= 2:
            groups.append(Group(at, at + used - 1, piece.zfill(2), " "))  # "four hundred (and) five" are the digits 405
        else:
            if scale == "hundred":
                groups.append(Group(last, last, "00", " "))
            written = used == 1 and (core[0] == "+" or core[0].isdigit())
            groups += _groups(at, core, tokens[at].lead) if written else [Group(at, at + used - 1, piece, " ")]
            goes_on = scale in ("thousand", "million", "billion", "point")
            quantities += not goes_on
            spelled = spelled and (core in UNITS or core in TIMES or core in SOUND_ALIKE)
        scale = scale if scale == "point" else ""
        last, at = at + used - 1, at + used
    if not groups:
        return None, first + 1
    if all(token.core in _OH for token in tokens[first : last + 1]):
        return None, last + 1  # words, not digits
    if scale == "hundred":
        groups.append(Group(last, last, "00", " "))
    return _made(first, last, groups, spelled=spelled, plus=plus, scaled=any_scale and quantities == 1), last + 1


def _made(first: int, last: int, groups: Sequence[Group], *, spelled: bool, plus: bool, scaled: bool) -> Run:
    digits = "".join(group.digits for group in groups)
    return Run(first, last, digits, spelled, len(groups), plus, scaled, tuple(groups))


def _groups(at: int, core: str, lead: str) -> list[Group]:
    found = [Group(at, at, digits, signs) for signs, digits in _GROUP.findall(core)]
    return [found[0]._replace(lead=lead), *found[1:]]


def _card_behind_a_sign(tokens: Sequence[Token], at: int) -> tuple[Run | None, int]:
    """`$4111111111111111` is no amount."""
    bare = _SIGNS.sub("", tokens[at].core)
    if bare == tokens[at].core or not bare[:1].isdigit():
        return None, at + 1
    run, end = _run(tokens, at, bare)
    return (run, end) if run is not None and is_card(run.digits) else (None, at + 1)


def _misheard(tokens: Sequence[Token], at: int) -> tuple[str, int]:
    """`five nine three to six`, `three seven too`: inside and at the end of a number, words are digits."""
    if at + 1 < len(tokens) and tokens[at + 1].core not in UNITS:
        return "", 0
    digit = SOUND_ALIKE.get(tokens[at].core, "")
    return digit, int(bool(digit))


def _piece(tokens: Sequence[Token], at: int, core: str) -> tuple[str, int]:
    """Digits of the number at `at`, and how many tokens it takes."""
    following = tokens[at + 1].core if at + 1 < len(tokens) else ""
    if following in MANY and (count := UNITS.get(core, core)) in _COUNTS:
        return MANY[following] * int(count), 2
    if core in UNITS:
        return UNITS[core], 1
    if core in TEENS:
        return TEENS[core], 1
    if core in TENS:
        if following in UNITS and following not in ("zero", "oh", "o"):
            return TENS[core] + UNITS[following], 2
        return TENS[core] + "0", 1
    if core in TIMES:
        digit = UNITS.get(following) or (following if len(following) == 1 and following.isdigit() else "")
        return (digit * TIMES[core], 2) if digit else ("", 0)
    quantity = _QUANTITY.fullmatch(core)
    if quantity and is_card("".join(filter(str.isdigit, core.rpartition(".")[0]))):
        quantity = None  # a spreadsheet's
    if (_WRITTEN.fullmatch(core) and not quantity) or ((quantity or _CLOCK.fullmatch(core)) and _is_code(tokens, at)):
        return "".join(filter(str.isdigit, core)), 1
    return "", 0


def _is_code(tokens: Sequence[Token], at: int) -> bool:
    """Whether it only looks like a quantity or a time of day: `expiry 05.27`, `sort code 20:12:34`."""
    kind, word = label(tokens, at)
    return word in SHORT or (kind == "account" and ":" in tokens[at].core)


def label(tokens: Sequence[Token], at: int) -> tuple[str, str]:
    return labelled([token.core for token in tokens[max(0, at - REACH) : at]])


# -- numbers that are parted, and what is one of them


def _chains(tokens: Sequence[Token], found: Sequence[Run]) -> Iterator[list[Run]]:
    """Runs with nothing but signs between them, written or said."""
    chain: list[Run] = []
    for run in found:
        if chain and any(token.core not in _SAID_SIGNS for token in tokens[chain[-1].last + 1 : run.first]):
            yield chain
            chain = []
        chain.append(run)
    if chain:
        yield chain


def _parted(tokens: Sequence[Token], chain: list[Run]) -> Iterator[Run]:
    """A chain as the numbers that it is."""
    loose = len(chain) > 1
    if not loose and (len(chain[0].digits) <= _CARD[0] or is_card(chain[0].digits)):
        yield chain[0]
        return
    groups = [group for run in chain for group in run.groups]
    found = list(_windows(groups, _is_card))
    if loose and not found and _is_one(tokens, chain, groups):
        yield _joined(chain, groups)
        return
    for first, last in _windows(groups, _has_form) if loose else ():
        if all(last < start or first > end for start, end in found):
            found.append((first, last))
    free = 0
    for first, last in sorted(found):
        yield from _without(chain, groups[free:first], end=groups[first].first)
        yield _joined(chain, groups[first : last + 1])
        free = last + 1
        while free < len(groups) and groups[free].first <= groups[last].last:
            free += 1  # in the same token
    yield from _without(chain, groups[free:], end=chain[-1].last + 1)


def _joined(chain: Sequence[Run], groups: Sequence[Group]) -> Run:
    first, last = groups[0].first, groups[-1].last
    of = [run for run in chain if run.first <= last and run.last >= first]
    last = of[-1].last if groups[-1] == of[-1].groups[-1] else last  # `thousand` is of no group
    spelled, scaled = all(run.spelled for run in of), len(of) == 1 and of[0].scaled
    return _made(first, last, groups, spelled=spelled, plus=of[0].plus and first == of[0].first, scaled=scaled)


def _without(chain: Sequence[Run], groups: Sequence[Group], *, end: int) -> Iterator[Run]:
    """What is left of each run, with the groups before token `end`."""
    for run in chain:
        left = [group for group in groups if run.first <= group.first <= run.last and group.last < end]
        if len(left) == len(run.groups):
            yield run
        elif left:
            yield _joined([run], left)


def _is_one(tokens: Sequence[Token], chain: Sequence[Run], groups: Sequence[Group]) -> bool:
    """Whether a label names the whole chain, or it is digits one by one."""
    one_by_one = len(chain) > 2 and all(run.spelled for run in chain) and _alike(groups, 0, len(groups) - 1)
    return one_by_one or label(tokens, chain[0].first)[0] not in ("", "order")


def _windows(groups: Sequence[Group], fits: Callable[[Sequence[Group], int, int], bool]) -> Iterator[tuple[int, int]]:
    """The longest that fit, apart from each other."""
    first = 0
    while first < len(groups):
        last, count = first, len(groups[first].digits)
        while last + 1 < len(groups) and count + len(groups[last + 1].digits) <= _CARD[-1]:
            last += 1
            count += len(groups[last].digits)
        while last > first and not fits(groups, first, last):
            last -= 1
        if last > first or fits(groups, first, first):
            yield first, last
        first = last + 1


def _is_card(groups: Sequence[Group], first: int, last: int) -> bool:
    digits = "".join(group.digits for group in groups[first : last + 1]).lstrip("0")
    if not _ISSUED.match(digits):
        return False
    if first == last:
        return any(is_card(digits[:count]) for count in ((16, 15, 19) if len(digits) > _CARD[-1] else (len(digits),)))
    sizes = tuple(len(group.digits) for group in groups[first : last + 1])
    return is_card(digits) and (sizes in _PRINTED or (_alike(groups, first, last) and _ends(groups, first, last)))


def _scattered(tokens: Sequence[Token], found: Sequence[Run]) -> set[int]:
    """Which runs are parts of a card number with words between them: groups as they are printed with any words, others
    with the same words each time."""
    if sum(len(run.digits) for run in found) < _CARD[0]:
        return set()
    groups: list[Group] = []
    of: list[int] = []
    for at, run in enumerate(found):
        between = tokens[found[at - 1].last + 1 : run.first] if at else []
        words = "".join(token.lead + token.core for token in between) + tokens[run.first].lead
        groups += [run.groups[0]._replace(lead=words), *run.groups[1:]]
        of += [at] * len(run.groups)
    whole = [Group(run.first, run.last, run.digits, "") for run in found]
    scattered = {at for first, last in _windows(groups, _is_card) for at in of[first : last + 1]}
    for units, owners in ((groups, of), (whole, range(len(found)))):
        large = [place for place, unit in enumerate(units) if len(unit.digits) >= _LARGE]
        near = [units[place] for place in large]
        for first, last in _windows(near, _is_told):
            scattered.update(owners[place] for place in large[first : last + 1])
    return scattered


def _is_told(groups: Sequence[Group], first: int, last: int) -> bool:
    digits = "".join(group.digits for group in groups[first : last + 1])
    sizes = tuple(len(group.digits) for group in groups[first : last + 1])
    return sizes in _PRINTED | _HALVES and bool(_ISSUED.match(digits)) and is_card(digits)


def _ends(groups: Sequence[Group], first: int, last: int) -> bool:
    """Whether other signs stand around them than between them; long groups need not."""
    signs = groups[last].lead
    before = first == 0 or groups[first].lead != signs
    behind = last + 1 == len(groups) or groups[last + 1].lead != signs
    return (before and behind) or max(len(group.digits) for group in groups[first : last + 1]) > 2


def _has_form(groups: Sequence[Group], first: int, last: int) -> bool:
    sizes = tuple(len(group.digits) for group in groups[first : last + 1])
    if len(sizes) == 2:
        signs, begins = groups[last].lead, groups[first].digits[0] == "0"
        return begins and sum(sizes) in (10, 11) and min(sizes) >= 4 and _ADDING.isdisjoint(signs)
    even = len(sizes) > 2 and len(set(sizes)) == 1 and sizes[0] >= 3 and sum(sizes) >= _CARD[0] - 1
    return (even or sizes in _FORMS) and _alike(groups, first, last)


def _alike(groups: Sequence[Group], first: int, last: int) -> bool:
    """With the same signs between them."""
    return len({group.lead for group in groups[first + 1 : last + 1]}) <= 1
