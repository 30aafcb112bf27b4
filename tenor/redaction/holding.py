"""What an interim may not show yet: its end, as far as the next words could make a secret of it.

    shown   hi my name is
    shown   hi my name is [person]
    shown   hi my name is [person] i paid …          "four" may become a card number
    shown   hi my name is [person] i paid four hundred dollars

Numbers and dates at the very end are held back whole; of the last three words those that are not everyday
words, since a surname, a street or the first part of an e-mail address may be growing there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tenor.redaction.dates import MONTHS, ORDINAL, ORDINALS
from tenor.redaction.emails import AT, JOINTS, NOT_IN_DOMAINS, STOP
from tenor.redaction.masking import HELD, Mask
from tenor.redaction.numbers.codes import coded
from tenor.redaction.numbers.runs import BETWEEN
from tenor.redaction.numbers.spoken import TIMES
from tenor.redaction.ordinary import ORDINARY
from tenor.redaction.utterance import CONFIRMING, Utterance

_WINDOW = 3
_DOMAIN = 8
_PRICED = re.compile(r"\W+\d[\d\W]*")
"""`$4111` may become a card number."""
_WORDS_OF_ONE_LETTER = ("a", "i")
_MAIL = frozenset({"email", "e-mail", "emails", "mail", "gmail", "address"})


def mail_is_near(said: Utterance) -> bool:
    """Whether an e-mail address may be coming of which everyday words are a part."""
    return any(core in _MAIL for core in (*said.past, *(token.core for token in said.tokens)))


def held(said: Utterance, masks: Sequence[Mask], *, words: bool) -> Mask | None:
    """The end of an interim that waits, beside what is masked anyway. Without `words` only numbers wait."""
    end = len(said.tokens)
    taken = {at for mask in masks for at in mask.tokens}
    in_address = any(mask.kind == "address" and mask.last >= end - 1 - _WINDOW for mask in masks)
    harmless = STOP if in_address or mail_is_near(said) else ORDINARY
    waiting = [
        at
        for start in ([end, *_ats(said)] if words else [end])
        for at in _back(said, start, _WINDOW if words else 1)
        if at not in taken and (_grows(said, at) or (words and said.core(at) not in harmless))
    ]
    return Mask(min(waiting), end - 1, HELD) if waiting else None


def _back(said: Utterance, end: int, window: int) -> Iterator[int]:
    """The last words before `end`, and with them all that grows there."""
    left, at = window, end - 1
    while at >= 0 and left:
        yield at
        core = said.core(at)
        if len(core) == 1 and core not in _WORDS_OF_ONE_LETTER:
            left = window  # "d for david": spelling goes on
        elif not _grows(said, at) and core not in CONFIRMING and core != "and":
            left -= 1
        at -= 1


def _ats(said: Utterance) -> Iterator[int]:
    """Where `at` stands that a domain may be following: what is before it may be the name in an e-mail address."""
    for at in range(len(said.tokens) - 1, max(-1, len(said.tokens) - 1 - _DOMAIN), -1):
        if said.core(at) in AT:
            yield at
        elif said.core(at) in NOT_IN_DOMAINS:
            return


def _grows(said: Utterance, at: int) -> bool:
    """Digits, letters, dates and what joins them: any length of it may be one secret."""
    core = said.core(at)
    return (
        said.run_at(at) is not None
        or (coded(said, at) and core not in _WORDS_OF_ONE_LETTER)
        or core == "oh"
        or core in JOINTS
        or core in TIMES
        or core in BETWEEN
        or core in MONTHS
        or core in ORDINALS
        or bool(ORDINAL.fullmatch(core))
        or bool(_PRICED.fullmatch(core))
    )
