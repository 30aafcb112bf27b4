"""Passwords that are said aloud or written: `my password is blue horse 42`, `password: hunter2`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tenor.redaction.masking import Mask
from tenor.redaction.utterance import Utterance

_CUE = r"(?:^| )(?:pass ?(?:word|code|phrase|wd)|pwd?|(?:memorable|secret|safe|security) word)"
_NAMED = re.compile(rf"{_CUE}$")
_TOLD = re.compile(rf"{_CUE}(?:'s| is| was| it's| that would be)$")
_WORDS = frozenset({"password", "passcode", "passphrase", "passwd", "word", "code", "phrase", "pw", "pwd"})
_GIVING = re.compile(r"[:=>\u2192]")
"""Signs behind which a value stands."""
_INSIDE = re.compile(r"\w[@#$%&*!^~+=|<>?\\]+\w")
"""Signs that are in no word."""
_QUOTES = "\"'`"
_ABOUT = """
not no wrong incorrect invalid right correct fine good okay ok expired old new weak strong too so very still now never
always also just only working reset being been blocked locked lost gone forgotten saved stored set required needed safe
secure secret the a an my your his her their this that what it i we you he she they on in at to for from with by of as
really pretty quite hard easy simple difficult impossible long short already probably supposed asking getting giving
coming failing refused denied rejected accepted compromised stolen hacked updated out up down off how why where maybe
well like sent changed different case going about all same something somewhere one unknown there here
and or but because if when
"""
_SAID_ABOUT = frozenset(_ABOUT.split())
"""`my password is not working`: these tell about it."""
_JUDGEMENTS = "right correct wrong incorrect fine good expired old new weak strong safe secure secret"
_JUDGING = frozenset(_JUDGEMENTS.split())
"""They tell about it, unless a word follows that is none of everyday: `correct horse battery staple`."""
_ENDS = frozenset({"and", "but", "so", "or", "i", "thanks", "thank", "please", "okay", "ok", "can", "if", "because"})
_LONGEST = 6


def passwords(said: Utterance) -> Iterator[Mask]:
    cores = [*said.past, *(token.core for token in said.tokens)]
    if _WORDS.isdisjoint(core.removesuffix("'s") for core in cores):
        return
    for at in range(len(said.tokens)):
        if _told(said, at) and (said.core(at) not in _SAID_ABOUT | _ENDS or _goes_on(said, at)):
            yield Mask(at, _end(said, at), "account")


def _end(said: Utterance, at: int) -> int:
    """The last token of the password: a few words if it is said, otherwise all up to the quote or the blank."""
    last, words = at, 1
    lead = said.tokens[at].lead
    quote = said.text.find(lead[-1], said.tokens[at].end) if lead[-1:] in tuple(_QUOTES) else -1
    spoken = quote < 0 and (not lead.strip() or lead[-1:].isspace())
    while last + 1 < len(said.tokens):
        following = said.tokens[last + 1]
        if quote >= 0:
            if following.start > quote:
                break
        elif following.chunk != said.tokens[last].chunk:
            words += 1
            if not spoken or words > _LONGEST or said.stops_after(last) or following.core in _ENDS:
                break
        last += 1
    return last


def _goes_on(said: Utterance, at: int) -> bool:
    """`one two three four`, `correct horse`."""
    run = said.run_at(at)
    if run is not None:
        return len(run.digits) > 1
    apart = said.stops_after(at) or said.comma_after(at)
    return said.core(at) in _JUDGING and said.strange(at + 1) and not apart


def _told(said: Utterance, at: int) -> bool:
    """Whether a password begins at token `at`."""
    lead = " ".join([*said.past[-5:], *(said.core(place) for place in range(max(0, at - 5), at))][-5:])
    if at and _NAMED.search(lead):
        signs = said.tokens[at].lead
        return bool(_GIVING.search(signs)) or (bool(signs.strip()) and said.strange(at)) or _looks_made_up(said, at)
    return bool(_TOLD.search(lead))


def _looks_made_up(said: Utterance, at: int) -> bool:
    """`Tr0ub4dor&3`, or all that there is."""
    first = said.tokens[at]
    chunk = said.text[first.start :].split(maxsplit=1)[0]
    letters, digits = any(map(str.isalpha, chunk)), any(map(str.isdigit, chunk))
    rest = said.text[first.start + len(chunk.rstrip("\"'")) :]
    whole = said.strange(at) and ("\n" in first.lead or rest[:1] in ('"', "'"))
    return (letters and digits and not chunk[0].isdigit()) or whole or bool(_INSIDE.search(chunk))
