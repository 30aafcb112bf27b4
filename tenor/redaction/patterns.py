"""Numbers and addresses that have a form: cards, accounts, telephones, e-mail, dates of birth.

A run of digits is judged by its length, by the words before it, and by what is said next to it:

    13-19 digits                card if the check digit fits or a card was mentioned, else account
    10, 11, +8-15, 7 as 3-4     phone
    4 and more after "account"  account; after "card", "cvv" card; after "call me at" (6 and more) phone
    8 and more                  account
    4 and more, nothing else in the utterance, or spelled out at its end: number
    after "order", "zip", "flight", ... or before "dollars", "pm", ...: left alone

A number may be read out over several utterances. There is no hidden memory for that: the utterance
published before, redacted as it is, tells. If it ended in a mask, digits that follow are masked as well;
if it ended in "my card number is", that is the context of the digits here.

    my card number is   ->  my card number is
    4111 1111           ->  [card]
    1111                ->  [card]                 (the one before ended in [card])
    thanks              ->  thanks
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tenor.events import Word
from tenor.redaction import Redacted, Span
from tenor.redaction.dates import Date, dates
from tenor.redaction.emails import emails
from tenor.redaction.numbers import BETWEEN, Run, luhn, runs
from tenor.redaction.tokens import Token, tokenise

KINDS = ("card", "account", "phone", "email", "birth_date")
LABELS = {kind: f"[{kind.replace('_', ' ')}]" for kind in (*KINDS, "number")}

_CONTEXTS = {
    "card": "card cards visa mastercard amex discover credit debit cvv cvc cvv2 expiry expires expiration security",
    "account": "account accounts acct iban routing sort bsb ssn social pin passport license licence",
    "phone": "phone telephone mobile cell cellphone call reach text fax dial callback",
    "order": "order orders tracking reference confirmation ticket invoice case zip postal postcode extension room "
    "flight model serial item part version apartment suite unit gate bus train page step size channel sku",
    "birth_date": "born birth birthday dob d.o.b birthdate",
}
_CONTEXT = {word: kind for kind, words in _CONTEXTS.items() for word in words.split()}
_SHORT = frozenset({"cvv", "cvc", "cvv2", "security", "expiry", "expires", "expiration", "pin"})
_UNITS = """
dollar dollars cent cents buck bucks euro euros pound pounds percent % year years month months week weeks day days
hour hours minute minutes second seconds am pm a.m p.m o'clock times people items item pieces units miles
kilometers meters feet inch inches kilos kg grams gb mb gigabytes megabytes degrees points stars o'clock
"""
UNITS_OF_MEASURE = frozenset(_UNITS.split())
_WORTH_A_LOOK = re.compile(
    r"\d|@|\w\.\w|\b(zero|oh|one|two|three|four|five|six|seven|eight|nine|double|triple|twenty|thirty|forty|fifty|sixty|seventy"
    r"|eighty|ninety|ten|eleven|twelve|\w+teen|dot|born|birth\w*|underscore)\b",
    re.IGNORECASE,
)
_OPEN_MASK = re.compile(r"\[(card|account|number|phone)\]\W*$")
_BEFORE_YEARS = frozenset({"in", "since", "of", "from", "until", "by", "year"})
_REACH = 10
"""How many words before a number may say what it is."""
_OLDEST, _YOUNGEST = 1900, 2012
"""A full date in these years is a date of birth even if nobody says so: the agent, on the other channel, did."""


class PatternRedactor:
    def __init__(self, kinds: Iterable[str] = KINDS) -> None:
        self._kinds = frozenset(kinds)
        self._numbers = bool(self._kinds & {"card", "account", "phone"})

    def redact(self, text: str, words: Sequence[Word], *, before: str = "", final: bool = True) -> Redacted:
        if not _WORTH_A_LOOK.search(text):
            return Redacted(text, tuple(words), ())
        tokens = tokenise(text)
        masks = self._masks(tokens, before, final)
        if not masks:
            return Redacted(text, tuple(words), ())
        spans = tuple(Span(tokens[first].start, tokens[last].end, kind) for first, last, kind in masks)
        return Redacted(_mask_text(text, spans), self._mask_words(text, tokens, masks, words, before, final), spans)

    def _mask_words(
        self,
        text: str,
        tokens: list[Token],
        masks: list[tuple[int, int, str]],
        words: Sequence[Word],
        before: str,
        final: bool,
    ) -> tuple[Word, ...]:
        if [word.text for word in words] != text.split():
            # Not spelled as in the text: judge them by themselves.
            tokens = tokenise(" ".join(word.text.replace(" ", "-") or "-" for word in words))
            masks = self._masks(tokens, before, final)
        masked: list[Word] = []
        done = 0
        for first, last, kind in masks:
            start, end = tokens[first].chunk, tokens[last].chunk
            masked += words[done:start]
            if end >= done:
                start = max(start, done)
                masked.append(_joined(words[start : end + 1], LABELS[kind]))
            done = max(done, end + 1)
        return (*masked, *words[done:])

    def _masks(self, tokens: list[Token], before: str, final: bool) -> list[tuple[int, int, str]]:
        """First token, last token and kind of everything to take out, in order."""
        past = [token.core for token in tokenise(before)[-_REACH:]]
        masks: list[tuple[int, int, str]] = []
        taken: set[int] = set()
        if "email" in self._kinds:
            for first, last in emails(tokens, final=final):
                masks.append((first, last, "email"))
                taken.update(range(first, last + 1))
        for date in dates(tokens):
            if taken.isdisjoint(range(date.first, date.last + 1)):
                taken.update(range(date.first, date.last + 1))
                if "birth_date" in self._kinds and _of_birth(date, tokens, past):
                    masks.append((date.first, date.last, "birth_date"))
        if self._numbers:
            opened = _OPEN_MASK.search(before)
            for run in runs(tokens):
                if taken.isdisjoint(range(run.first, run.last + 1)):
                    kind = _judge(run, tokens, past, opened[1] if opened else "", final)
                    if kind in self._kinds or kind == "number":
                        masks.append((run.first, run.last, kind))
        return sorted(masks)


def _context(tokens: list[Token], first: int, past: list[str]) -> tuple[str, str]:
    """What the words before token `first` say it is, and the word that says so."""
    cores = [*past, *(token.core for token in tokens[max(0, first - _REACH) : first])]
    following = ""
    for core in reversed(cores[-_REACH:]):
        if (kind := _CONTEXT.get(core)) and (core != "security" or following == "code"):
            return kind, core
        following = core
    return "", ""


def _of_birth(date: Date, tokens: list[Token], past: list[str]) -> bool:
    return (_OLDEST <= date.year <= _YOUNGEST) or _context(tokens, date.first, past)[0] == "birth_date"


def _judge(run: Run, tokens: list[Token], past: list[str], opened: str, final: bool) -> str:
    """The kind of a number; empty for one that may be seen."""
    digits, count = run.digits, len(run.digits)
    if 13 <= count <= 19 and luhn(digits):
        return "card"
    following = tokens[run.last + 1].core if run.last + 1 < len(tokens) else ""
    if run.scaled or following in UNITS_OF_MEASURE:
        return ""
    if _year(run) and run.first and tokens[run.first - 1].core in _BEFORE_YEARS:
        return ""
    context, word = _context(tokens, run.first, past)
    leading = all(token.core in BETWEEN for token in tokens[: run.first])
    if leading and opened and count >= 2:
        return opened
    if word in _SHORT and 3 <= count <= 6:
        return "account" if word == "pin" else "card"
    if context in ("card", "account") and count >= 4:
        return context
    if context == "order" and count <= 22:
        return ""
    if _telephone(run, context):
        return "phone"
    if count >= 8:
        return "account"
    after = len(tokens) - 1 - run.last
    if not final:
        return "number" if count >= 4 and after <= 1 else ""
    if count < 4 or _year(run) or after:
        return ""
    return "number" if leading or run.spelled or _goes_on(past, run) else ""


def _year(run: Run) -> bool:
    return len(run.digits) == 4 and run.pieces <= 2 and not run.spelled and run.digits[:2] in ("19", "20")


def _telephone(run: Run, context: str) -> bool:
    digits, count = run.digits, len(run.digits)
    if run.plus:
        return 8 <= count <= 15
    if context == "phone":
        return 6 <= count <= 15
    return (count == 10 and digits[0] != "1") or (count == 11 and digits[0] in "01") or (count == 7 and run.pieces == 2)


def _goes_on(past: list[str], run: Run) -> bool:
    """The utterance before ended in digits too few to be masked."""
    return bool(past) and past[-1].isdigit() and len(past[-1]) + len(run.digits) >= 6


def _mask_text(text: str, spans: Sequence[Span]) -> str:
    parts, done = [], 0
    for start, end, kind in spans:
        parts += [text[done:start], LABELS[kind]]
        done = end
    return "".join([*parts, text[done:]])


def _joined(words: Sequence[Word], label: str) -> Word:
    """One word in place of several, from the beginning of the first to the end of the last."""
    last = words[-1].text
    tail = last[len(last.rstrip(".,!?;:")) :]
    return Word(
        text=label + tail,
        start_ms=words[0].start_ms,
        end_ms=words[-1].end_ms,
        confidence=min(word.confidence for word in words),
        speaker=words[0].speaker,
    )
