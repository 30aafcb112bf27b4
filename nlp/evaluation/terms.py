"""How well the words of the house are recognised: errors on a list of business terms.

A term counts as heard if all of its words were recognised where they were said, in one piece. Beside what was missed
stands what was invented: a recogniser that is told to expect a word must not hear it everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from whisper_normalizer.english import EnglishTextNormalizer

from tenor.errors import BadInput

MOST = 10_000
"""Terms of a list: more are no list of terms but a dictionary."""
_DIAGONAL, _MISSED, _ADDED = 0, 1, 2


@dataclass
class TermCount:
    said: int = 0
    missed: int = 0
    invented: int = 0


@dataclass
class TermErrors:
    """What became of each term, added up over texts."""

    counts: dict[str, TermCount] = field(default_factory=dict)

    @property
    def said(self) -> int:
        return sum(one.said for one in self.counts.values())

    @property
    def missed(self) -> int:
        return sum(one.missed for one in self.counts.values())

    @property
    def invented(self) -> int:
        return sum(one.invented for one in self.counts.values())

    @property
    def rate(self) -> float:
        return self.missed / max(1, self.said)

    @property
    def worst(self) -> list[tuple[str, TermCount]]:
        """Terms that were missed, most often first."""
        wrong = [(term, one) for term, one in self.counts.items() if one.missed]
        return sorted(wrong, key=lambda item: (-item[1].missed, item[0]))


class TermCounter:
    """Counts over many texts. Terms are written as texts are: by the normalizer of word error rates."""

    def __init__(self, terms: Iterable[str]) -> None:
        self._normal = EnglishTextNormalizer()
        written = {tuple(self._words(term)): term for term in terms}
        self._terms = {words: written[words] for words in sorted(written, key=lambda one: (-len(one), one)) if words}
        self._first = {words[0] for words in self._terms}
        self.errors = TermErrors()

    def __bool__(self) -> bool:
        return bool(self._terms)

    def add(self, wanted: Sequence[str], got: Sequence[str]) -> tuple[int, int]:
        """Of one text, in normalized words: how often terms were said, and how often missed."""
        said, heard = list(self._found(wanted)), list(self._found(got))
        if not said and not heard:
            return 0, 0
        places = matches(wanted, got)
        right: set[int] = set()
        missed = 0
        for start, words in said:
            count = self.errors.counts.setdefault(self._terms[words], TermCount())
            count.said += 1
            at = places.get(start, -1)
            if at >= 0 and all(places.get(start + step) == at + step for step in range(len(words))):
                right.add(at)
            else:
                count.missed += 1
                missed += 1
        for start, words in heard:
            if start not in right:
                self.errors.counts.setdefault(self._terms[words], TermCount()).invented += 1
        return len(said), missed

    def _words(self, text: str) -> list[str]:
        return str(self._normal(text)).split()

    def _found(self, words: Sequence[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Terms and where they begin, the longest first; none overlap."""
        at = 0
        while at < len(words):
            found: tuple[str, ...] = ()
            if words[at] in self._first:
                found = next((term for term in self._terms if tuple(words[at : at + len(term)]) == term), ())
            if found:
                yield at, found
            at += len(found) or 1


def matches(wanted: Sequence[str], got: Sequence[str]) -> dict[int, int]:
    """Places of `wanted` and of the same word in `got`, when as few words as possible are changed."""
    row = list(range(len(got) + 1))
    steps = []
    for number, word in enumerate(wanted, 1):
        diagonal, row[0] = row[0], number
        step = bytearray(len(got) + 1)
        step[0] = _MISSED
        for at, other in enumerate(got, 1):
            changed, missed, added = diagonal + (word != other), row[at] + 1, row[at - 1] + 1
            best = min(changed, missed, added)
            step[at] = _DIAGONAL if best == changed else _MISSED if best == missed else _ADDED
            diagonal, row[at] = row[at], best
        steps.append(step)
    found: dict[int, int] = {}
    one, other_one = len(wanted), len(got)
    while one and other_one:
        step_here = steps[one - 1][other_one]
        if step_here == _DIAGONAL:
            one, other_one = one - 1, other_one - 1
            if wanted[one] == got[other_one]:
                found[one] = other_one
        elif step_here == _MISSED:
            one -= 1
        else:
            other_one -= 1
    return found


def read_terms(path: Path) -> list[str]:
    """A file with a term per line; empty lines, and those that begin with #, are none."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        raise BadInput(f"the terms in {path} cannot be read: {error.strerror}", "a file with a term per line") from None
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not UTF-8 text", "a file with a term per line") from None
    terms = list(dict.fromkeys(line.strip() for line in lines if line.strip() and not line.startswith("#")))
    if not terms or len(terms) > MOST:
        what = "has no terms" if not terms else f"has {len(terms):,} terms"
        raise BadInput(f"{path} {what}", f"a file with a term per line, at most {MOST:,}")
    return terms
