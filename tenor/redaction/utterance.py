"""One utterance as the patterns see it: its tokens, the numbers in it, and what was said before."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from tenor.redaction.numbers.cues import FAR
from tenor.redaction.numbers.runs import BETWEEN, Run, runs
from tenor.redaction.ordinary import ORDINARY
from tenor.redaction.plain import plain
from tenor.redaction.tokens import Token, tokenise

_AROUND = """
yes yeah yep sure okay ok alright it's its it is that's that was be that'd it'd and the so well i'm in at also actually
like correct right
"""
FILLERS = BETWEEN | frozenset(_AROUND.split())
"""May stand around an answer that is otherwise only a number, a name or a place."""
_CONFIRMING = """
yes yeah yep yup ok okay alright right correct uh huh um mhm mm hmm sure that's thats got it perfect great good fine
cool exactly go ahead on thanks so dot
"""
CONFIRMING = BETWEEN | frozenset(_CONFIRMING.split())
"""May stand between two groups of one number: `four one one one okay one one one one got it`."""
_NO_NAMES = BETWEEN | {"oh"}
_OPEN = frozenset({"card", "account", "number", "phone", "address", "person"})
_LAST = 200
"""Characters of what was said before in which the end of a secret is looked for."""
_STOPS = re.compile(r"[.?!](\s|$)")


def confirms(text: str) -> bool:
    """Whether an utterance is nothing but `okay`: a number goes on behind it, so what came before it is remembered."""
    return all(token.core in CONFIRMING for token in tokenise(plain(text).text))


@dataclass(frozen=True)
class Utterance:
    text: str
    before: str = ""
    """What the same speaker said just before, as it was published."""

    @cached_property
    def tokens(self) -> list[Token]:
        return tokenise(self.text)

    @cached_property
    def past(self) -> list[str]:
        """The last words before this utterance."""
        tokens = self._end if len(self.before) <= _LAST else tokenise(self.before)
        return [token.core for token in tokens[-FAR:]]

    @cached_property
    def runs(self) -> list[Run]:
        return runs(self.tokens)

    @cached_property
    def opened(self) -> str:
        """The kind of secret that the utterance before ended in, but for an `okay`; it may go on here."""
        end = self.before[-_LAST:]
        for token in reversed(self._end):
            if token.core in _OPEN and end[token.start - 1 : token.end + 1] == f"[{token.core}]":
                return token.core
            if token.core and token.core not in CONFIRMING:
                break
        return ""

    def core(self, at: int) -> str:
        cores = self._cores
        return cores[at] if 0 <= at < len(cores) else ""

    def strange(self, at: int) -> bool:
        """Whether the token may be part of a name: not an everyday word, not a number."""
        core = self.core(at)
        return bool(core) and core not in ORDINARY and core not in _NO_NAMES and self.run_at(at) is None

    @cached_property
    def _cores(self) -> list[str]:
        return [token.core for token in self.tokens]

    @cached_property
    def _end(self) -> list[Token]:
        """Of what was said before."""
        return tokenise(self.before[-_LAST:])

    @cached_property
    def _run_of(self) -> dict[int, Run]:
        return {at: run for run in self.runs for at in range(run.first, run.last + 1)}

    def run_at(self, at: int) -> Run | None:
        return self._run_of.get(at)

    def stops_after(self, at: int) -> bool:
        """Whether a sentence ends with this token."""
        if at + 1 >= len(self.tokens):
            return True
        token = self.tokens[at]
        return len(token.core) > 1 and bool(_STOPS.search(self.text[token.end : self.tokens[at + 1].start]))

    def comma_after(self, at: int) -> bool:
        return at + 1 < len(self.tokens) and "," in self.text[self.tokens[at].end : self.tokens[at + 1].start]
