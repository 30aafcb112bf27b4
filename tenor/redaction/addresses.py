"""Addresses: streets with their numbers, cities, states, postal codes, also when they are told bit by bit.

    my address is 733 First Street   ->  my address is [address]
    Forest Ranch                     ->  [address]         (the utterance before ended in one)
    Oregon                           ->  [address]
    four zero seven seven nine       ->  [address]

A place alone is no address: "do you have a shop in Boston" stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tenor.redaction.masking import Mask
from tenor.redaction.numbers.codes import codes
from tenor.redaction.numbers.verdicts import context, continued, measured
from tenor.redaction.streets import STREETS, is_zip, streets
from tenor.redaction.utterance import FILLERS, Utterance

_STATES = """
alabama alaska arizona arkansas california colorado connecticut delaware florida georgia hawaii idaho illinois indiana
iowa kansas kentucky louisiana maine maryland massachusetts michigan minnesota mississippi missouri montana nebraska
nevada ohio oklahoma oregon pennsylvania tennessee texas utah vermont virginia washington wisconsin wyoming ontario
quebec alberta manitoba saskatchewan
"""
STATES = frozenset(_STATES.split())
_TWO_WORDS = frozenset({"new hampshire", "new jersey", "new mexico", "new york", "north carolina", "north dakota",
    "rhode island", "south carolina", "south dakota", "west virginia", "british columbia", "nova scotia"})  # fmt: skip
_ROOMS = frozenset({"apartment", "apt", "flat", "suite", "unit", "floor", "room", "box"})
_HOMES = frozenset({"apartment", "apt"})
"""A number behind them is an address by itself."""
_IN_BUILDINGS = _ROOMS - {"box"}
_BUILDINGS = frozenset({"house", "court", "lodge", "mansion", "mansions", "tower", "towers", "building", "buildings",
    "apartments", "heights"})  # fmt: skip
"""Behind a flat and a name: `Flat 12, Elm House`."""
_BOX = re.compile(r"p\.? ?o\.?")
_DOOR = re.compile(r"\d+[a-z]")
_PAUSE = re.compile(r"[,'\"\u201d]")
_CUES = frozenset({"address", "zip", "postcode", "zipcode", "city", "town", "state", "county", "street"})
_DWELLING = frozenset({"live", "lives", "lived", "living", "located", "reside", "moved"})
_CODES = frozenset({"zip", "postcode", "zipcode", "postal"})
_ELSEWHERE = frozenset({"email", "e-mail", "mail", "web", "ip", "website", "internet", "network"})
_SKIPPED = FILLERS | frozenset({"code", "to", "on", "of", "a", "now", "home", "mailing", "new"})
_LONGEST = 6
_NAME_WORDS = 2
"""Of a building's name."""
_NO_NAME = FILLERS | {"of", "in", "at", "for", "to", "from", "with", "off", "on", "by", "per", "a", "an", "the", "my",
    "our", "your", "his", "her", "this", "that"}  # fmt: skip
_SHORT = 7
"""Words of an utterance that may be nothing but the next bit of an address."""

Part = tuple[int, int]
"""First and last token."""


def addresses(said: Utterance, places: Iterable[Part]) -> Iterator[Mask]:
    """`places` are what a model takes for a place."""
    known = sorted({*_states(said), *places})
    parts = {*streets(said), *_announced(said, known), *_continued(said, known), *_alone(said, known)}
    parts |= {*_boxes(said), *_zips(said), *_buildings(said)}
    parts |= {(code.first, code.last) for code in codes(said) if code.is_postcode and not _named(said, code.first)}
    grown = True
    while grown and parts:
        more = {part for part in (*known, *_codes(said), *_rooms(said)) if _beside(said, part, parts)}
        more |= {part for part in _strange(said) if any(part[0] == last + 1 for _, last in parts)}
        grown = not more <= parts
        parts |= more
    for first, last in (*parts, *_homes(said)):
        yield Mask(first, last, "address")


def _named(said: Utterance, first: int) -> bool:
    """`my account is AB12 3CD`: looks like a postal code, and is none."""
    return context(said, first)[0] in ("card", "account")


def _announced(said: Utterance, places: list[Part]) -> Iterator[Part]:
    """What follows `my address is`, `I live in`, `the city is`, `zip code`."""
    for at in range(-1, len(said.tokens) - 1):
        cue = said.core(at) if at >= 0 else _last_cue(said)
        if cue in _CUES | _DWELLING and said.core(at - 1) not in _ELSEWHERE:
            first = at + 1
            while said.core(first) in _SKIPPED and not said.stops_after(first):
                first += 1
            if cue in _CUES - _CODES and at >= 0 and first == at + 1:
                continue  # "repeat the address one more time"
            if cue in _DWELLING and any(_PAUSE.search(token.lead) for token in said.tokens[at + 1 : first + 1]):
                continue  # "while we live, breathing is free"
            last = _reach(said, first, places, only_number=cue in _CODES)
            if last >= first and (at >= 0 or first == 0 or said.run_at(first)):
                yield first, last


def _last_cue(said: Utterance) -> str:
    """The cue that the utterance before ended in: `my address is`."""
    cores = [core for core in said.past[-4:] if core not in _SKIPPED or core in _ELSEWHERE]
    if said.opened or not cores or (len(cores) > 1 and cores[-2] in _ELSEWHERE):
        return ""
    return cores[-1]


def _reach(said: Utterance, first: int, places: list[Part], *, only_number: bool) -> int:
    """The last token of the address that begins at `first`; the one before `first` when there is none."""
    last = first - 1
    while last - first < _LONGEST and last + 1 < len(said.tokens):
        at = last + 1
        if run := said.run_at(at):
            if measured(run, said):
                break
            last = run.last
        elif only_number:
            break
        elif place := next((place for place in places if place[0] == at), None):
            last = place[1]
        elif said.strange(at) or said.core(at) in STREETS:
            last = at
        else:
            break
        if said.stops_after(last):
            break
    return last


def _continued(said: Utterance, places: list[Part]) -> Iterator[Part]:
    """The next bit of an address, when the utterance before ended in one."""
    if said.opened not in ("address", "number"):
        return
    first = 0
    while said.core(first) in FILLERS:
        first += 1
    if said.opened == "address":
        yield from (place for place in places if place[0] == first)
    if len(said.tokens) > _SHORT:
        return
    last = len(said.tokens) - 1
    rest = range(first, last + 1)
    inside = {at for start, end in places for at in range(start, end + 1)}
    if said.opened == "number":
        goes_on = all(at in inside for at in rest)
    else:
        goes_on = continued(said) or all(_may_go_on(said, at) or at in inside for at in rest)
    if rest and goes_on:
        yield first, last


def _may_go_on(said: Utterance, at: int) -> bool:
    return said.strange(at) or _digits(said, at) or said.core(at) in FILLERS


def _alone(said: Utterance, places: list[Part]) -> Iterator[Part]:
    """An answer that is nothing but a place."""
    inside = {at for start, end in places for at in range(start, end + 1)}
    if inside and all(at in inside or said.core(at) in FILLERS for at in range(len(said.tokens))):
        yield from places


def _digits(said: Utterance, at: int) -> bool:
    run = said.run_at(at)
    return run is not None and not measured(run, said)


def _states(said: Utterance) -> Iterator[Part]:
    for at in range(len(said.tokens)):
        if said.core(at) in STATES:
            yield at, at
        elif f"{said.core(at)} {said.core(at + 1)}" in _TWO_WORDS:
            yield at, at + 1


def _codes(said: Utterance) -> Iterator[Part]:
    for run in said.runs:
        if len(run.digits) >= 3 and not run.scaled and not measured(run, said):
            yield run.first, run.last


def _strange(said: Utterance) -> Iterator[Part]:
    """Up to three words that are none of everyday: behind a street they are a city."""
    for at in range(len(said.tokens)):
        if said.strange(at) and not (said.strange(at - 1) and not said.stops_after(at - 1)):
            last = at
            while last - at < 2 and said.strange(last + 1) and not said.stops_after(last):
                last += 1
            yield at, last


def _boxes(said: Utterance) -> Iterator[Part]:
    """`P.O. Box 1234`."""
    for first, last in _rooms(said):
        yield from ((at, last) for at in (first - 1, first - 2) if _boxed(said, at, first))


def _buildings(said: Utterance) -> Iterator[Part]:
    """`Flat 12, Elm House`, `apartment four b rose court`."""
    for first, last in _rooms(said):
        if said.core(first) not in _IN_BUILDINGS or _digits_measured(said, first + 1):
            continue
        for at in range(last + 1, min(last + 2 + _NAME_WORDS, len(said.tokens))):
            if said.stops_after(at - 1):
                break
            if at > last + 1 and said.core(at) in _BUILDINGS:
                yield first, at
                break
            if said.core(at) in _NO_NAME or said.run_at(at):
                break


def _digits_measured(said: Utterance, at: int) -> bool:
    """`a flat 12 percent`."""
    run = said.run_at(at)
    return run is not None and measured(run, said)


def _homes(said: Utterance) -> Iterator[Part]:
    """The number in `apartment 5B`; an interim has shown the word before it."""
    for first, last in _rooms(said):
        if said.core(first) in _HOMES and _numbered(said, first + 1):
            yield first + 1, last


def _numbered(said: Utterance, at: int) -> bool:
    """Not `my apartment one day`."""
    run = said.run_at(at)
    return said.core(at) == "number" or (said.core(at)[:1].isdigit() and not (run and measured(run, said)))


def _boxed(said: Utterance, at: int, box: int) -> bool:
    """Whether `P.O.` stands from token `at` to the box."""
    return (
        at >= 0
        and said.core(box) == "box"
        and bool(_BOX.fullmatch(" ".join(said.core(place) for place in range(at, box))))
    )


def _zips(said: Utterance) -> Iterator[Part]:
    """`Austin, TX 78701`: in writing, with the city."""
    for at in range(1, len(said.tokens)):
        if is_zip(said, at):
            first = at - 1
            while first and at - first < 4 and said.strange(first - 1) and not said.stops_after(first - 1):
                first -= 1
            yield first, at


def _rooms(said: Utterance) -> Iterator[Part]:
    """`apartment four b`, `apartment 5B`."""
    for at in range(len(said.tokens)):
        if said.core(at) in _ROOMS and not said.stops_after(at):
            last = at
            if said.core(last + 1) in ("number", "box"):
                last += 1
            run = said.run_at(last + 1)
            last = run.last if run else last
            if _DOOR.fullmatch(said.core(last + 1)):
                last += 1
            if len(said.core(last + 1)) == 1 and said.core(last + 1) != "i":
                last += 1
            if last > at:
                yield at, last


def _beside(said: Utterance, part: Part, parts: set[Part]) -> bool:
    """With nothing but fillers, `zip code` or the like between it and an address, within one sentence or the next."""
    for first, last in parts:
        gap = range(last + 1, part[0]) if part[0] > last else range(part[1] + 1, first)
        if len(gap) <= 4 and all(said.core(at) in _SKIPPED or said.core(at) in _CUES for at in gap):
            return True
    return False
