"""How numbers are said."""

from __future__ import annotations

_DIGITS = "zero one two three four five six seven eight nine"
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
UNITS = {word: str(value) for value, word in enumerate(_DIGITS.split())}
UNITS |= {"oh": "0", "o": "0", "nought": "0", "naught": "0", "aught": "0", "nil": "0", "niner": "9"}
TEENS = {word: str(value) for value, word in enumerate(_TEENS.split(), start=10)}
TENS = {word: str(value) for value, word in enumerate(_TENS.split(), start=2)}
TIMES = {"double": 2, "triple": 3, "treble": 3, "quadruple": 4}
MANY = {f"{word}s": digit for word, digit in UNITS.items()} | {f"{digit}s": digit for digit in "0123456789"}
MANY |= {"sixes": "6", "zeroes": "0"}
"""`four ones`."""
SOUND_ALIKE = {"to": "2", "too": "2", "for": "4", "or": "4", "ate": "8", "won": "1"}
"""How recognisers write digits inside a number."""
SCALES = frozenset({"hundred", "thousand", "million", "billion", "point"})
NUMBER_WORDS = frozenset({*UNITS, *TEENS, *TENS, *TIMES})
