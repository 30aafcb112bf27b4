"""How many spellings of numbers, e-mail addresses, passwords and addresses stay readable behind redaction.

    python -m benchmarks.language.spellings [--kinds usual|all|card] [--misses KIND]

The spellings are made by `spelling_corpus`; one counts as readable if a single letter or digit of it is. Ordinary
figures in the same media are counted as well: a mask there is a wrong one. Addresses are found by patterns alone.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter

from benchmarks.language.spelling_corpus import Spelling, ordinary, spellings
from tenor.redaction import KINDS, Span
from tenor.redaction.patterns import USUAL, PatternRedactor

CHOICES = {"usual": USUAL, "all": KINDS, "card": ("card",)}
"""With cards alone, only cards are looked at."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--kinds", choices=CHOICES, help="only with these kinds")
    parser.add_argument("--misses", default="", help="print what stays readable of this kind, or of all")
    options, _ = parser.parse_known_args()
    made = list(spellings())
    print(f"{len(made):,} spellings of {len({one.kind for one in made})} kinds")
    for name, kinds in CHOICES.items():
        if options.kinds in (None, name):
            count(name, [one for one in made if name != "card" or one.kind == "card"], kinds, options.misses)


def count(name: str, made: list[Spelling], kinds: tuple[str, ...], misses: str) -> None:
    redactor = PatternRedactor(kinds)
    there, left = Counter(one.kind for one in made), Counter[str]()
    began = time.process_time()
    for one in made:
        shown = redactor.redact(one.text, ())
        if readable(one, shown.spans):
            left[one.kind] += 1
            if misses in (one.kind, "all"):
                print(f"  {one.kind}: {one.made_of}: {one.text!r} -> {shown.text!r}")
    used = time.process_time() - began
    each = ", ".join(f"{kind} {left[kind]}" for kind in there if left[kind])
    print(f"{name:6} {left.total():,} of {there.total():,} readable ({each or 'none'})", end="")
    print(f"; {1e3 * used / len(made):.2f} ms each")
    innocent = list(ordinary())
    wrong = sum(bool(redactor.redact(text, ()).spans) for text in innocent)
    print(f"{'':6} {wrong} of {len(innocent):,} ordinary figures masked")


def readable(one: Spelling, spans: tuple[Span, ...]) -> bool:
    """Whether a letter or digit of the secret can still be read."""
    hidden = {at for start, end, _ in spans for at in range(start, end)}
    return any(one.text[at].isalnum() and at not in hidden for start, end in one.secrets for at in range(start, end))


if __name__ == "__main__":
    main()
