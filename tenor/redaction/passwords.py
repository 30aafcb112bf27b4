"""Passwords that are said aloud: `my password is blue horse 42`."""

from __future__ import annotations

from collections.abc import Iterator

from tenor.redaction.masking import Mask
from tenor.redaction.utterance import Utterance

_CUES = frozenset({"password", "passcode", "passphrase"})
_TELLS = frozenset({"is", "was", "it's"})
_LONGEST = 6


def passwords(said: Utterance) -> Iterator[Mask]:
    for at in range(2, len(said.tokens)):
        if said.core(at - 1) in _TELLS and said.core(at - 2) in _CUES:
            last = at - 1
            while last - at < _LONGEST and (said.strange(last + 1) or said.run_at(last + 1)):
                last += 1
                if said.stops_after(last):
                    break
            if last >= at:
                yield Mask(at, last, "account")
