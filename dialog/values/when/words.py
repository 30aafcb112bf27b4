"""Words of dates, and the usual misspellings of them."""

from __future__ import annotations

import re
from functools import lru_cache

from rapidfuzz import fuzz, process

from dialog.values.tokens import word_list, word_set

WEEKDAYS = {
    word: number
    for number, words in enumerate(
        (
            "monday mondays mon",
            "tuesday tuesdays tue tues",
            "wednesday wednesdays wed weds",
            "thursday thursdays thu thur thurs",
            "friday fridays fri",
            "saturday saturdays sat",
            "sunday sundays sun",
        )
    )
    for word in words.split()
}
# Words of every day: days only after "on", "this", "next", or before a part of the day.
DOUBTFUL_WEEKDAYS = word_set("sun sat mon wed fri thu")
MONTHS = {
    word: number + 1
    for number, words in enumerate(
        (
            *("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug"),
            *("september sep sept", "october oct", "november nov", "december dec"),
        )
    )
    for word in words.split()
}
DOUBTFUL_MONTHS = word_set("may march mar jan jun sep dec")
PARTS = {
    "morning": "morning", "mornings": "morning", "afternoon": "afternoon", "evening": "evening", "evenings": "evening",
    "night": "night", "nite": "night", "noon": "afternoon", "midday": "afternoon", "lunchtime": "afternoon",
    "midnight": "night", "dawn": "morning", "dusk": "evening", "afternoons": "afternoon", "nights": "night",
}  # fmt: skip
TYPOS = {
    "tmrw": "tomorrow", "tmr": "tomorrow", "tmw": "tomorrow", "tomoz": "tomorrow", "tomorow": "tomorrow",
    "tommorow": "tomorrow", "tommorrow": "tomorrow", "tomarrow": "tomorrow", "tomorro": "tomorrow", "tomm": "tomorrow",
    "tomorrows": "tomorrow", "todays": "today", "tonights": "tonight", "tonite": "tonight",
    "tody": "today", "wensday": "wednesday", "wendsday": "wednesday", "wednsday": "wednesday",
    "weds": "wednesday", "tuseday": "tuesday", "teusday": "tuesday", "thrusday": "thursday", "thurday": "thursday",
    "thursdy": "thursday", "firday": "friday", "fryday": "friday", "freinday": "friday", "satuday": "saturday",
    "saterday": "saturday", "sundy": "sunday", "monady": "monday", "yesturday": "yesterday", "wkend": "weekend",
    "weekends": "weekend", "wknd": "weekend", "mornin": "morning", "morn": "morning", "afternon": "afternoon",
    "afternooon": "afternoon", "evenin": "evening", "nxt": "next", "nite": "night", "febuary": "february",
    "agust": "august", "septemeber": "september", "novemeber": "november", "decemeber": "december", "comming": "coming",
    "thanksgivin": "thanksgiving", "yesterdays": "yesterday",
}  # fmt: skip
LONG_WORDS = tuple(
    word_list(
        "tomorrow yesterday tonight weekend monday tuesday wednesday thursday saturday february september october "
        "november december thanksgiving christmas halloween afternoon"
    )
)
NO_TYPOS = frozenset(LONG_WORDS) | word_set("mondays tuesdays wednesdays thursdays saturdays sundae sundaes")
TYPO_CUT_OFF = 87
ORDINALS = {
    word: number + 1
    for number, word in enumerate(
        word_list(
            "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
            "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
        )
    )
} | {"thirtieth": 30}
SUFFIXES = ("st", "nd", "rd", "th")
FEW = {"few": 3, "couple": 2, "several": 4}
SPANS = {"day": 1, "days": 1, "week": 7, "weeks": 7, "fortnight": 14}
SEASONS = word_set("spring summer fall autumn winter")
NOW = (
    *(("right", "now"), ("at", "the", "moment"), ("at", "this", "moment"), ("as", "we", "speak"), ("this", "minute")),
    *(("this", "very", "moment"), ("at", "present"), ("this", "instant"), ("right", "this", "minute"), ("currently",)),
    *(("right", "this", "second"), ("at", "this", "time"), ("presently",), ("rn",)),
)
SLASHED = re.compile(r"(\d{1,2})/(\d{1,2})(?:/(\d{2}|\d{4}))?")
ISO = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
FRACTIONS = frozenset(("1/2", "1/3", "1/4", "2/3", "3/4", "1/8", "3/8", "5/8", "7/8"))
JOINERS = word_set("to through thru until till")


def key_of(key: str) -> str:
    """The word that is meant: "tomorow" and "tmrw" are tomorrow."""
    if key in TYPOS:
        return TYPOS[key]
    return _spelt(key) if 6 <= len(key) <= 12 and key.isalpha() else key


@lru_cache(maxsize=4096)
def _spelt(key: str) -> str:
    if key in NO_TYPOS:
        return key
    best = process.extractOne(key, LONG_WORDS, scorer=fuzz.ratio, score_cutoff=TYPO_CUT_OFF)
    return best[0] if best is not None and best[0][0] == key[0] else key
