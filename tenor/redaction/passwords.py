"""Passwords that are said aloud or written: `my password is blue horse 42`, `password: hunter2`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tenor.redaction.masking import Mask
from tenor.redaction.utterance import Utterance

_CUE = r"(?:^| )(?:pass ?(?:word|code|phrase)|pwd?|(?:memorable|secret|safe|security) word)"
_NAMED = re.compile(rf"{_CUE}$")
_TOLD = re.compile(rf"{_CUE}(?:'s| is| was| it's)$")
_WORDS = frozenset({"password", "passcode", "passphrase", "word", "code", "phrase", "pw", "pwd"})
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
            last = at
            while last - at < _LONGEST and not said.stops_after(last) and said.core(last + 1) not in _ENDS:
                last += 1
            yield Mask(at, last, "account")


def _goes_on(said: Utterance, at: int) -> bool:
    """`one two three four`, `correct horse`."""
    run = said.run_at(at)
    if run is not None:
        return len(run.digits) > 1
    apart = said.stops_after(at) or said.comma_after(at)
    return said.core(at) in _JUDGING and said.strange(at + 1) and not apart


def _told(said: Utterance, at: int) -> bool:
    """Whether a password begins at token `at`."""
    lead = " ".join([*said.past[-3:], *(said.core(place) for place in range(max(0, at - 3), at))][-3:])
    if at and _NAMED.search(lead):
        return any(sign in said.text[said.tokens[at - 1].end : said.tokens[at].start] for sign in ":=")
    return bool(_TOLD.search(lead))
