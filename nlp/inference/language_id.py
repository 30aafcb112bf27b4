"""Whether a text is in a language the models were not made for. Said rather than guessed at.

Only clear cases count: another script, or words that py3langid takes for another language, with hardly a small word of
English among them. Names, numbers and single words pass as English.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from py3langid.langid import MODEL_FILE, LanguageIdentifier

_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")
_READ = 500
"""Characters that are looked at; a language shows earlier than that."""
_SURE = 0.5
"""Of another language; chosen so that no frozen sentence of nlp/evaluation is taken for one."""
_SMALL = """
a about all am an and any are at be been but by bye can can't could did do does don't for from get go good got had has
have he hello help her here hey hi his how i i'd i'll i'm i've if in is it it's its just know let like look make me mm
more my need new no not now of off oh ok okay on one or our out please right see set she so some sorry take tell thank
thanks that that's the their them then there they this time to too two uh um up us want was we well were what what's
when where which who why will with would yeah yes you you're your
"""
_ENGLISH = frozenset(_SMALL.split())


def is_foreign(text: str) -> bool:
    """True when the text is clearly not English."""
    letters = [letter for letter in text[:_READ] if letter.isalpha()]
    if not letters:
        return False
    if sum(_is_latin(letter) for letter in letters) * 2 < len(letters):
        return True
    words = [word for number, word in enumerate(_WORD.findall(text[:_READ])) if number == 0 or not _is_name(word)]
    known = sum(word.lower().replace("\u2019", "'") in _ENGLISH for word in words)
    if len({word.lower() for word in words}) < 2 or known * 3 > len(words):
        return False
    language, score = identifier().classify(" ".join(words).lower())
    return bool(language != "en" and score >= _SURE)


@cache
def identifier() -> LanguageIdentifier:
    """Loading takes half a second: a stage does it before somebody waits."""
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def _is_name(word: str) -> bool:
    """Or a German noun, of which there are others beside it."""
    return word[0].isupper() and not word.isupper()


def _is_latin(letter: str) -> bool:
    return letter.isascii() or unicodedata.name(letter, "").startswith("LATIN")
