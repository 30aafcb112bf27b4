"""E-mail addresses, written or spoken: `john.smith@gmail.com`, `john dot smith at g mail dot com`."""

from __future__ import annotations

import re

from tenor.redaction.numbers.runs import is_card
from tenor.redaction.numbers.spoken import TEENS, TENS, TIMES, UNITS
from tenor.redaction.ordinary import ORDINARY
from tenor.redaction.tokens import Token

_ENDINGS = """
com net org edu gov mil int io co ac uk de fr it es eu us ca au in nl ch at be ie se no dk fi pl cz pt gr ro hu ru ua tr
br mx ar cl nz za jp cn kr sg hk my ph id th vn ae il lu is lt lv ee sk si hr bg rs me tv ai cc gg fm so to ly sh biz
info name pro mobi app dev online shop store site web website tech cloud email mail live life world today media digital
group team space club design agency studio blog page link click global network services solutions systems support
company business center house home care health law legal church school academy university bank finance money london
scot wales cymru berlin nyc xyz
"""
ENDINGS = frozenset(_ENDINGS.split())
_DOMAIN = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z]{2,}")
_BLANK = frozenset(" +\t\n")
"""The plus is one in a query."""
AT = frozenset({"at", "@"})
JOINTS = frozenset({"dot", "underscore", "dash", "hyphen", "period", "plus", "minus"})
_STOP = """
is it's its i'm my your his her their email e-mail mail address to me on the a an and at or ok okay sure yes
yeah yep um uh er that's thats by use with was it so for from send of you're see look meet me've can will
"""
STOP = frozenset(_STOP.split())
_EVERYDAY = STOP | ORDINARY
NOT_IN_DOMAINS = STOP - {"mail", "my", "the", "and", "a"}
_PROVIDERS = "gmail googlemail hotmail yahoo outlook icloud aol protonmail g_mail hot_mail i_cloud a_o_l proton_mail"
PROVIDERS = tuple(tuple(name.split("_")) for name in _PROVIDERS.split())
"""Behind `at` they are mail, even if the rest was not heard."""
_SPELLED = frozenset(UNITS) | frozenset(TEENS) | frozenset(TENS) | frozenset(TIMES)
_MAIL = frozenset({"email", "e-mail", "mail"})
_TELLS = frozenset({"is", "it's", "address", "was", "would", "be", "um", "uh"})
_LONGEST = 10


def emails(tokens: list[Token], *, final: bool, near: bool = True) -> list[tuple[int, int]]:
    """First and last token of each address; of an interim also one that is only begun at its end.

    Unless mail is `near`, everyday words are no part of one."""
    stop = STOP if near else _EVERYDAY
    found: list[tuple[int, int]] = []
    for at, token in enumerate(tokens):
        if found and at <= found[-1][1]:
            continue
        free_from = found[-1][1] + 1 if found else 0
        if len(token.core) > 1 and "@" in token.core:
            found.append((_joined_before(tokens, at, free_from), _domain(tokens, at + 1, begun=token.core[-1] != "@")))
        elif token.core in AT:
            sure = token.core == "@" or near or _bracketed(tokens, at) or token.lead in ("_", "-", "+", "/")
            sign = at + 1 < len(tokens) and tokens[at + 1].core == "sign"
            last = _domain(tokens, at + 1 + sign, sure=sure)
            first = _local(tokens, at, free_from, stop)
            if last > at + sign:
                found.append((first, last))
            elif first < at and (used := _provider(tokens, at + 1)):
                found.append((first, at + used))
    if not final and (begun := _begun(tokens, found[-1][1] + 1 if found else 0, stop)):
        found.append(begun)
    return found


def has_card(core: str) -> bool:
    """`4111.1111.1111.1111@acme.io`."""
    return "@" in core and any(is_card("".join(filter(str.isdigit, part))) for part in core.split("@"))


def _bracketed(tokens: list[Token], at: int) -> bool:
    """`(at)`."""
    return tokens[at].lead[-1:] in tuple("([{<") and at + 1 < len(tokens) and tokens[at + 1].lead[:1] in tuple(")]}>")


def _dotted(token: Token) -> bool:
    """Whether there is a dot before it: `acme.io`, `acme [.] io`."""
    return token.lead.strip(" +()[]{}<>") == "."


def _glued(token: Token) -> bool:
    return token.lead in (".", "_", "-", "+") or (_dotted(token) and _BLANK.isdisjoint(token.lead))


def _joined_before(tokens: list[Token], at: int, free_from: int) -> int:
    """`jane[dot]doe@acme.io`: where it begins."""
    while at > free_from:
        if _glued(tokens[at]):
            at -= 1
        elif tokens[at - 1].core in JOINTS and at - 1 > free_from:
            at -= 2
        else:
            break
    return at


def announced(tokens: list[Token], past: list[str]) -> list[tuple[int, int]]:
    """What follows `my email is`, as far as it is no everyday word: the rest of the address may come later."""
    found = []
    cores = [*past, *(token.core for token in tokens)]
    for at in range(len(past), len(cores) if not _MAIL.isdisjoint(cores) else 0):
        first = at
        while first and cores[first - 1] in _TELLS:
            first -= 1
        if first == at or not first or cores[first - 1] not in _MAIL or cores[at] in _TELLS:
            continue
        last = at - 1
        while last + 1 < len(cores) and last - at < _LONGEST and _of_a_name(cores, last + 1):
            last += 1
        if last >= at:
            found.append((at - len(past), last - len(past)))
    return found


def _of_a_name(cores: list[str], at: int) -> bool:
    core = cores[at]
    joined = core in JOINTS or cores[at - 1] in JOINTS
    return joined or core not in ORDINARY or core in _SPELLED or (len(core) == 1 and core not in ("a", "i"))


def _domain(tokens: list[Token], at: int, *, begun: bool = False, sure: bool = True) -> int:
    """Last token of the domain that starts at `at`; the token before it when there is none.

    `begun`: the token before is its beginning; `sure`: there is an at sign, so that it may be written with blanks."""
    none = at - 1
    if at < len(tokens) and _DOMAIN.fullmatch(tokens[at].core) and not begun:
        return _further(tokens, at, sure=sure)
    last = none
    if begun and tokens[none].core.rpartition(".")[2] in ENDINGS:
        return _further(tokens, none, sure=sure)
    for place in range(at, min(at + 10, len(tokens))):
        core = tokens[place].core
        if core == "dot" and (place > at or begun) and place + 1 < len(tokens):
            if _ending(tokens[place + 1].core):
                last = place + 1
        elif (place > at or begun) and _dotted(tokens[place]) and _after_dot(tokens, place, sure=sure):
            last = place
            if len(core) == 1 and (ending := _spelled_ending(tokens, place)):
                return ending
        elif place > at and _glued(tokens[place]) and last < place - 1:
            continue  # "my-shop24.co.uk"
        elif (last > none and place > last) or (core in NOT_IN_DOMAINS and place != last) or (begun and place == at):
            break
    if last > none and last + 1 < len(tokens) and tokens[last + 1].core == "at":
        return none  # "reach me at john dot smith at ..."
    return last


def _further(tokens: list[Token], last: int, *, sure: bool) -> int:
    """`co .uk`."""
    while last + 1 < len(tokens) and _dotted(tokens[last + 1]) and _after_dot(tokens, last + 1, sure=sure):
        last += 1
    return last


def _after_dot(tokens: list[Token], at: int, *, sure: bool) -> bool:
    """Whether it may be a part of a domain; a dot with a blank beside it is mostly the end of a sentence."""
    core, lead = tokens[at].core, tokens[at].lead
    if _BLANK.isdisjoint(lead):
        return _ending(core.rpartition(".")[2])
    return (sure and core.rpartition(".")[2] in ENDINGS) or (lead == " . " and bool(_spelled_ending(tokens, at)))


def _spelled_ending(tokens: list[Token], at: int) -> int:
    """The last token of `c o m`; 0 if there is none."""
    text = ""
    for place in range(at, min(at + 4, len(tokens))):
        text += tokens[place].core
        if len(tokens[place].core) > 1:
            return 0
        if len(text) > 1 and text in ENDINGS and (place + 1 == len(tokens) or len(tokens[place + 1].core) > 1):
            return place
    return 0


def _ending(core: str) -> bool:
    """There are more than a thousand: every word that is not of everyday may be one."""
    return core.partition(".")[0] in ENDINGS or (core.isalpha() and core not in ORDINARY)


def _provider(tokens: list[Token], at: int) -> int:
    """How many tokens a provider of mail takes at `at`."""
    for names in PROVIDERS:
        if tuple(token.core for token in tokens[at : at + len(names)]) == names:
            return len(names)
    return 0


def _local(tokens: list[Token], at: int, free_from: int, stop: frozenset[str]) -> int:
    """First token of what stands before `at`: letters, digits and words up to one that begins no address."""
    first, words = at, 0
    while first > free_from:
        core = tokens[first - 1].core
        joint = core in JOINTS or (first < at and (tokens[first].core in JOINTS or _glued(tokens[first])))
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
        if core in AT and at > free_from and any(t.core in ("dot", "underscore") for t in tokens[at - 4 : at]):
            return _local(tokens, at, free_from, stop), end
        if core in ("dot", "underscore") and at >= end - 1 and at > free_from:
            return _local(tokens, at, free_from, stop), end
    return None
