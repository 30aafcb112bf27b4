"""Plain numbers, written with digits or as they are spoken.

Engines write "thirty-five percent" and "35%" as they please; a caller of Riva chooses one form.
Every function takes words and gives words, so that times stay with what was said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from asr.local.stt.types import RecognizedWord

_UNITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS = ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9}
_SMALL = {word: value for value, word in enumerate(_UNITS + _TEENS)}
_TENS_OF = {word: 10 * value for value, word in enumerate(_TENS, start=2)}
_ORDINALS = {
    "first": "one", "second": "two", "third": "three", "fifth": "five", "eighth": "eight", "ninth": "nine",
    "twelfth": "twelve", "twentieth": "twenty", "thirtieth": "thirty", "fortieth": "forty", "fiftieth": "fifty",
    "sixtieth": "sixty", "seventieth": "seventy", "eightieth": "eighty", "ninetieth": "ninety",
}  # fmt: skip
_CARDINAL_TO_ORDINAL = {cardinal: ordinal for ordinal, cardinal in _ORDINALS.items()}
_CURRENCIES = {"$": ("dollar", "cent"), "£": ("pound", "penny"), "€": ("euro", "cent")}
_NUMBER_WORDS = {*_SMALL, *_TENS_OF, *_SCALES, "hundred"}
_TOKEN = re.compile(r"^(?P<before>[\"'(\[]*)(?P<core>.*?)(?P<after>[.,?!;:\"')\]]*)$", re.DOTALL)
_NUMBER = r"\d[\d,]*(?:\.\d+)?"


def to_spoken_form(words: Sequence[RecognizedWord]) -> list[RecognizedWord]:
    """Digits become words: "$117 at 5 p.m." becomes "one hundred seventeen dollars at five p m"."""
    result: list[RecognizedWord] = []
    for word in _spelled(words):
        if _is_clock(word.text) and result and split_punctuation(result[-1].text)[1].lower() in _NUMBER_WORDS:
            before, core, after = split_punctuation(word.text)
            half = core.lower()[0]
            result += _respelled(word, f"{before}{half} m{after.removeprefix('.') if '.' in core else after}")
        else:
            result.append(word)
    return result


def _spelled(words: Sequence[RecognizedWord]) -> list[RecognizedWord]:
    result: list[RecognizedWord] = []
    for at, word in enumerate(words):
        if any(letter.isdigit() for letter in word.text):
            before, core, after = split_punctuation(word.text)
            following = words[at + 1].text if at + 1 < len(words) else ""
            said = _digit_by_digit(core) if _is_code(core, after, following) else _say(core, _is_clock(following))
            result += _respelled(word, before + said + after)
        else:
            result.append(word)
    return result


def to_written_form(words: Sequence[RecognizedWord]) -> list[RecognizedWord]:
    """Number words become digits: "thirty five percent" becomes "35%". A lone "one" stays a word.

    What the engine wrote in digits is spelled out first, so that one number has one form: "510-359-2829",
    "510 359 2829" and the spoken digits all become 5103592829.
    """
    words = _spelled(words)
    result: list[RecognizedWord] = []
    at = 0
    while at < len(words):
        taken, text = _number_at(words, at)
        if taken:
            span = words[at : at + taken]
            result.append(
                RecognizedWord(text, span[0].start_ms, span[-1].end_ms, min(word.confidence for word in span))
            )
            at += taken
        else:
            result.append(words[at])
            at += 1
    return result


def split_punctuation(text: str) -> tuple[str, str, str]:
    """Punctuation before, the word itself, punctuation after."""
    match = _TOKEN.match(text)
    assert match is not None
    return match["before"], match["core"], match["after"]


# --- digits to words ---


def cardinal(number: int) -> str:
    if number < 20:
        return (_UNITS + _TEENS)[number]
    if number < 100:
        tens, unit = divmod(number, 10)
        return _TENS[tens - 2] + (f" {_UNITS[unit]}" if unit else "")
    for name, scale in (*reversed(_SCALES.items()), ("hundred", 100)):
        if number >= scale:
            many, rest = divmod(number, scale)
            return f"{cardinal(many)} {name}" + (f" {cardinal(rest)}" if rest else "")
    raise AssertionError(number)


def _ordinal(number: int) -> str:
    *others, last = cardinal(number).split()
    ending = _CARDINAL_TO_ORDINAL.get(last) or (last[:-1] + "ieth" if last.endswith("y") else last + "th")
    return " ".join([*others, ending])


def _digit_by_digit(digits: str) -> str:
    return " ".join(_UNITS[int(digit)] for digit in digits if digit.isdigit())


def _is_code(core: str, after: str, following: str) -> bool:
    """Three digits that count nothing, "719, First Street" or "473 339 4826", are read out one by one."""
    counts = not after and following[:1].islower()
    return bool(re.fullmatch(r"\d\d[1-9]", core)) and not counts and not _is_clock(following)


def _whole(digits: str) -> str:
    """Long numbers without commas are codes, read digit by digit; four digits may be a year."""
    if "," in digits:
        return cardinal(int(digits.replace(",", ""))) if len(digits) < 16 else _digit_by_digit(digits)
    if len(digits) > 4 or (digits[0] == "0" and len(digits) > 1):
        return _digit_by_digit(digits)
    number = int(digits)
    if len(digits) < 4 or number % 1000 == 0:
        return cardinal(number)
    if number % 100 == 0:
        return cardinal(number // 100) + " hundred"
    if 1100 <= number < 2000 or 2010 <= number < 2100:
        rest = number % 100
        return f"{cardinal(number // 100)} {'oh ' if rest < 10 else ''}{cardinal(rest)}"
    return cardinal(number) if 2000 < number < 2010 else _digit_by_digit(digits)


def _amount(text: str) -> str:
    whole, _, fraction = text.partition(".")
    return _whole(whole) + (f" point {_digit_by_digit(fraction)}" if fraction else "")


def _money(symbol: str, text: str) -> str:
    unit, part = _CURRENCIES[symbol]
    whole, _, fraction = text.partition(".")
    number = int(whole.replace(",", ""))
    if len(fraction) not in (0, 2) or number >= 10**12:
        return f"{_amount(text)} {unit}s"
    said = f"{cardinal(number)} {unit}{'' if number == 1 else 's'}"
    cents = int(fraction or 0)
    plural = part if cents == 1 else {"penny": "pence"}.get(part, part + "s")
    return f"{said} and {cardinal(cents)} {plural}" if cents else said


def _say(core: str, clock: bool) -> str:
    """One written number as it is spoken. `clock`: "a.m." or "p.m." follows."""
    if match := re.fullmatch(rf"([$£€])({_NUMBER})", core):
        return _money(match[1], match[2])
    if match := re.fullmatch(rf"({_NUMBER})%", core):
        return _amount(match[1]) + " percent"
    if match := re.fullmatch(r"(\d{1,9})(?:st|nd|rd|th)", core, re.IGNORECASE):
        return _ordinal(int(match[1]))
    match = re.fullmatch(r"(\d{1,2})[:.](\d\d)([ap]\.?m\.?)?", core, re.IGNORECASE)
    if match and (":" in core or clock or match[3]):
        minutes = int(match[2])
        later = f" {'oh ' if minutes < 10 else ''}{cardinal(minutes)}" if minutes else ""
        return cardinal(int(match[1])) + later + (f" {match[3]}" if match[3] else "")
    if re.fullmatch(_NUMBER, core):
        return _amount(core)
    if re.fullmatch(r"\d+(?:[-.]\d+)+", core):
        groups = re.split(r"[-.]", core)
        return _digit_by_digit(core) if len("".join(groups)) >= 7 else " ".join(_whole(group) for group in groups)
    return re.sub(r"\d+", lambda run: f" {_whole(run[0])} ", core).strip()


def _respelled(word: RecognizedWord, text: str) -> list[RecognizedWord]:
    parts = text.split()
    length = (word.end_ms - word.start_ms) / len(parts)
    edges = [word.start_ms + int(length * part) for part in range(len(parts))] + [word.end_ms]
    return [
        RecognizedWord(part, start, end, word.confidence)
        for part, start, end in zip(parts, edges, edges[1:], strict=False)
    ]


# --- words to digits ---


def _number_at(words: Sequence[RecognizedWord], start: int) -> tuple[int, str]:
    """How many words from `start` are one number, and how it is written; 0 if none begins here."""
    parts: list[str] = []
    ends: list[int] = []  # after which part each word ends
    stop = start
    before = split_punctuation(words[start].text)[0]
    after = ""
    while stop < len(words):
        opening, core, after = split_punctuation(words[stop].text)
        pieces = core.lower().split("-")
        if opening and parts:
            break
        if pieces == ["a"] and not parts and _starts_round(words, stop + 1):
            pieces = ["one"]
        elif not (_joins(pieces, parts) or all(_counts(piece) for piece in pieces)):
            break
        ordinal = pieces[-1] in _ORDINALS or _is_th(pieces[-1])
        if ordinal and len(pieces) == 1 and parts and not (_below(parts[-1], pieces[-1])):
            break
        parts += pieces
        ends.append(len(parts))
        stop += 1
        if ordinal or (after and not _goes_on(words, stop)):
            break
    while ends and parts[ends[-1] - 1] in ("and", "oh", "point"):
        ends.pop()
        parts = parts[: ends[-1]] if ends else []
    if not parts:
        return 0, ""
    taken = len(ends)
    after = split_punctuation(words[start + taken - 1].text)[2]
    value = _value(parts)
    if value is None:
        return 0, ""
    if not after and start + taken < len(words):
        _, unit, following = split_punctuation(words[start + taken].text)
        if unit.lower() in ("percent", "dollar", "dollars", "cents"):
            written_with_unit = {"p": f"{value}%", "d": f"${value}", "c": f"{value} cents"}[unit.lower()[0]]
            return taken + 1, before + written_with_unit + following
        if _is_clock(unit) and re.fullmatch(r"\d{3,4}", value):
            value = f"{value[:-2]}:{value[-2:]}"
        if _is_clock(unit):
            return taken, before + value + after
    lone = len(parts) == 1 and (parts[0] in ("hundred", *_SCALES) or len(value.rstrip("stndrh")) == 1)
    return (0, "") if lone else (taken, before + value + after)


def _is_th(piece: str) -> bool:
    return piece.endswith("th") and piece[:-2] in _NUMBER_WORDS


def _counts(piece: str) -> bool:
    return piece in _NUMBER_WORDS or piece in _ORDINALS or _is_th(piece)


def _joins(pieces: list[str], parts: list[str]) -> bool:
    """Words that are part of a number only inside one."""
    if pieces == ["and"]:
        return bool(parts) and parts[-1] in ("hundred", *_SCALES)
    return bool(parts) and pieces in (["oh"], ["point"])


def _below(part: str, ordinal: str) -> bool:
    """Whether the ordinal completes the number before it ("twenty first"), or begins one ("733 first")."""
    word = _ORDINALS.get(ordinal) or ordinal[:-2]
    if word in ("hundred", *_SCALES):
        return True
    return part in ("hundred", "and", *_SCALES) or (part in _TENS_OF and 0 < _SMALL.get(word, 0) < 10)


def _goes_on(words: Sequence[RecognizedWord], at: int) -> bool:
    """Digits read out one by one often come with commas: "six, one, nine" is one number."""
    if at >= len(words) or split_punctuation(words[at - 1].text)[2] != ",":
        return False
    return all(_SMALL.get(split_punctuation(words[side].text)[1].lower(), 10) < 10 for side in (at - 1, at))


def _starts_round(words: Sequence[RecognizedWord], at: int) -> bool:
    """ "a hundred", "a thousand"."""
    return at < len(words) and split_punctuation(words[at].text)[1].lower() in ("hundred", *_SCALES)


def _is_clock(text: str) -> bool:
    return bool(re.fullmatch(r"(?i)[ap]\.?m\.?", split_punctuation(text)[1]))


def _value(parts: list[str]) -> str | None:
    """Chunks that are numbers of their own stand side by side: "five one zero" is 510."""
    suffix = ""
    if parts[-1] in _ORDINALS or _is_th(parts[-1]):
        cardinal_word = _ORDINALS.get(parts[-1]) or parts[-1][:-2]
        parts = [*parts[:-1], cardinal_word]
        suffix = "th"
    text, at, scaled = "", 0, False
    while at < len(parts):
        if parts[at] == "point":
            text += "."
            at += 1
        elif parts[at] == "oh":
            text += "0"
            at += 1
        else:
            used, number = _chunk(parts, at)
            scaled = scaled or any(part in _SCALES for part in parts[at : at + used])
            text += str(number)
            at += used
    if text.startswith(".") or text.count(".") > 1:
        return None
    if scaled and text.isdigit() and int(text) >= 10_000:
        text = f"{int(text):,}"
    if suffix and text[-2:] not in ("11", "12", "13"):
        suffix = {"1": "st", "2": "nd", "3": "rd"}.get(text[-1], "th")
    return text + suffix


def _chunk(parts: list[str], at: int) -> tuple[int, int]:
    """The longest proper cardinal from `at`: how many parts it takes, and its value."""
    total, start, limit = 0, at, 10**12
    while at < len(parts):
        step = at + 1 if at > start and parts[at] == "and" else at
        used, number = _below_thousand(parts, step)
        end = step + used
        scale = _SCALES.get(parts[end], 1) if end < len(parts) else 1
        nothing = not used and not (at == start and scale > 1)
        if nothing or scale >= limit or (scale == 1 and at > start and number == 0):
            break
        total += max(number, 0 if used else 1) * scale
        at = end + (scale > 1)
        if scale == 1:
            break
        limit = scale
    return max(at - start, 1), total


def _below_thousand(parts: list[str], at: int) -> tuple[int, int]:
    used, number = _below_hundred(parts, at)
    if at + used < len(parts) and parts[at + used] == "hundred":
        hundreds = number if used else 1
        used += 1
        further = at + used
        if further + 1 < len(parts) and parts[further] == "and":
            further += 1
        more, rest = _below_hundred(parts, further)
        # "hundred five one zero" is 100 and a code, "hundred five" is 105.
        if more:
            return further + more - at, hundreds * 100 + rest
        return used, hundreds * 100
    return used, number


def _below_hundred(parts: list[str], at: int) -> tuple[int, int]:
    if at >= len(parts):
        return 0, 0
    if parts[at] in _TENS_OF:
        unit = _SMALL.get(parts[at + 1], 0) if at + 1 < len(parts) else 0
        return (2, _TENS_OF[parts[at]] + unit) if 0 < unit < 10 else (1, _TENS_OF[parts[at]])
    return (1, _SMALL[parts[at]]) if parts[at] in _SMALL else (0, 0)
