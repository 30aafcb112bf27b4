"""What an interim may not show yet: its end, as far as the next words could make a secret of it.

    shown   hi my name is
    shown   hi my name is [person]
    shown   hi my name is [person] i paid …          "four" may become a card number
    shown   hi my name is [person] i paid four hundred dollars

Numbers and dates at the very end are held back whole; of the last three words those that are not everyday
words, since a surname, a street or the first part of an e-mail address may be growing there.
"""

from __future__ import annotations

from tenor.redaction.dates import MONTHS, ORDINALS
from tenor.redaction.emails import JOINTS, STOP
from tenor.redaction.masking import HELD, Mask
from tenor.redaction.numbers import BETWEEN, TIMES
from tenor.redaction.ordinary import ORDINARY
from tenor.redaction.utterance import Utterance

_WINDOW = 3
_MAIL = frozenset({"email", "e-mail", "emails", "mail", "gmail", "address"})


def mail_is_near(said: Utterance) -> bool:
    """Whether an e-mail address may be coming of which everyday words are a part."""
    return any(core in _MAIL for core in (*said.past, *(token.core for token in said.tokens)))


def held(said: Utterance, taken: set[int], *, words: bool) -> Mask | None:
    """The end of an interim that waits; `taken` are the tokens masked anyway. Without `words` only numbers wait."""
    end = len(said.tokens)
    harmless = STOP if mail_is_near(said) else ORDINARY
    cut, plain, at = end, 0, end - 1
    while at >= 0 and plain < (_WINDOW if words else 1):
        growing = _grows(said, at)
        if at not in taken and (growing or (words and said.core(at) not in harmless)):
            cut = at
        plain += not growing and at not in taken
        at -= 1
    return Mask(cut, end - 1, HELD) if cut < end else None


def _grows(said: Utterance, at: int) -> bool:
    """Digits, letters, dates and what joins them: any length of it may be one secret."""
    core = said.core(at)
    return (
        said.run_at(at) is not None
        or (len(core) == 1 and core not in ("a", "i"))
        or core in JOINTS
        or core in TIMES
        or core in BETWEEN
        or core in MONTHS
        or core in ORDINALS
    )
