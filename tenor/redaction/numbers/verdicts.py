"""What kind of number a run of digits is.

It is judged by its length, by the words before it, and by what is said next to it:

    13-19 digits                card if the check digit fits or a card was mentioned, else account
    10, 11, +8-15, 7 as 3-4     phone
    4 and more after "account"  account; after "card", "cvv" card; after "call me at" (6 and more) phone
    any after "card number is"  as named, if nothing follows; "number is" alone: number
    8 and more                  account
    4 and more, nothing else in the utterance, or spelled out at its end: number
    up to 8 after "born"        birth_date
    after "order", "zip", "flight", ... or before "dollars", "pm", ...: left alone
    3 and more, read out: number, if all numbers are to be taken out

Groups with nothing but "okay", "got it" and the like between them are judged as one number; what follows a number
within a few words is more of it, if it has as many digits as a group.

A number may be read out over several utterances. There is no hidden memory for that: the utterance
published before, redacted as it is, tells. If it ended in a mask, digits that follow are masked as well;
if it ended in "my card number is", that is the context of the digits here.

    my card number is   ->  my card number is
    4111 1111           ->  [card]
    1111                ->  [card]                 (the one before ended in [card])
    thanks              ->  thanks
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tenor.redaction.numbers.cues import FAR, REACH, SHORT, told_by
from tenor.redaction.numbers.runs import BETWEEN, Run, apart, is_card, runs
from tenor.redaction.numbers.spoken import SOUND_ALIKE, UNITS
from tenor.redaction.streets import of_a_place
from tenor.redaction.tokens import tokenise
from tenor.redaction.utterance import CONFIRMING, FILLERS, Utterance

_MEASURES = """
dollar dollars cent cents buck bucks euro euros pound pounds percent % year years month months week weeks day days
hour hours minute minutes second seconds am pm a.m p.m o'clock times people items item pieces units miles
kilometers meters feet inch inches kilos kg grams gb mb gigabytes megabytes degrees points stars
"""
MEASURES = frozenset(_MEASURES.split())
_BEFORE_YEARS = frozenset({"in", "since", "of", "from", "until", "by", "year"})
_NUMBERED = frozenset({"number", "code", "number's", "code's"})
_TELLS = frozenset({"is", "it's", "number", "number's", "code's"})
_NUMBERS = frozenset({"card", "account", "phone", "number"})
_LONGEST_SIGNED = 4
"""Digits of a quantity with a sign."""
_LONGEST_TAIL = 10
"""Digits of an expiry date and a security code; a magnetic stripe has more behind "="."""
_LONGEST_HOUSE = 5
"""Digits of the number of a house, and of a postal code."""


def context(said: Utterance, first: int) -> tuple[str, str]:
    """What the words before token `first` say it is, and the word that says so."""
    cores = [token.core for token in said.tokens[max(0, first - FAR) : first]]
    return told_by([*said.past, *cores][-FAR:] if len(cores) < FAR else cores)


def verdicts(said: Utterance, found: Sequence[Run], *, every: bool) -> Iterator[tuple[Run, str]]:
    """Every run with its kind; see `verdict`."""
    last, kind = -1, ""
    """Where the last secret number ended, and what it was."""
    for wide in _groups(said, found, CONFIRMING | {"and"}):
        card = 13 <= len(_digits(wide, said)) <= 19
        for group in [wide] if card else _groups(said, wide, CONFIRMING):
            whole = _whole(group, said, every=every)
            for run in group:
                if run.of_card or is_card(run.digits):
                    own = "card"
                else:
                    own = whole if whole and not measured(run, said) else verdict(run, said, every=every)
                if kind == "card" and own != "phone" and _behind_card(run, said, last):
                    own = "card"
                if not own and kind and _more(run, said, last):
                    own = kind
                if own in _NUMBERS:
                    last, kind = run.last, own
                yield run, own


def _groups(said: Utterance, found: Sequence[Run], joints: frozenset[str]) -> Iterator[list[Run]]:
    """Runs with nothing but `joints` between them."""
    group: list[Run] = []
    for run in found:
        if group and not _goes_over(said, group[-1].last + 1, run.first, joints):
            yield group
            group = []
        group.append(run)
    if group:
        yield group


def _goes_over(said: Utterance, first: int, run: int, joints: frozenset[str]) -> bool:
    """Whether a number may go on over the tokens before the next run, or over the signs if there are none."""
    if first == run:
        return not apart(said.tokens, run)
    return all(said.core(at) in joints for at in range(first, run))


def _digits(group: list[Run], said: Utterance) -> str:
    return "".join(run.digits for run in group if not measured(run, said))


def _whole(group: list[Run], said: Utterance, *, every: bool) -> str:
    """The kind of a number that is read out in groups; empty if it is not one number."""
    digits, plain = _digits(group, said), [run for run in group if _plain(run, said)]
    if not plain or len(group) < 2 or (len(digits) < 8 and any(len(run.digits) < 3 for run in plain)):
        return ""
    if len(plain) < 2 and len(group) < 3 and len(digits) < 12:
        return ""  # "1500 right 2,000"
    first, last = group[0], group[-1]
    spelled, pieces = all(run.spelled for run in group), sum(run.pieces for run in group)
    kind = verdict(Run(first.first, last.last, digits, spelled, pieces, first.plus, scaled=False), said, every=every)
    return kind or ("" if context(said, first.first)[0] == "order" else "number")


def _plain(run: Run, said: Utterance) -> bool:
    """Digits that may be a group of a number."""
    return not measured(run, said) and not _year(run) and (not run.scaled or announced(run.first, said))


def _more(run: Run, said: Utterance, last: int) -> bool:
    """Whether a run goes on with the number that ended at token `last`."""
    if not _plain(run, said) or run.first - last > REACH or context(said, run.first)[0] == "order":
        return False
    beside = all(said.core(at) in CONFIRMING or said.core(at) == "and" for at in range(last + 1, run.first))
    return len(run.digits) >= (2 if beside else 3 if run.spelled else 4)


def _behind_card(run: Run, said: Utterance, last: int) -> bool:
    """Expiry and security code, with nothing but signs between them and the card: `4111111111111111|12|2027|123`."""
    count, signs = len(run.digits), said.tokens[run.first].lead
    return run.first == last + 1 and (1 < count <= _LONGEST_TAIL or signs == "=") and not measured(run, said)


def verdict(run: Run, said: Utterance, *, every: bool) -> str:
    """The kind of a number; empty for one that may be seen. `every`: all that are read out are secret."""
    digits, count = run.digits, len(run.digits)
    if is_card(digits):
        return "card"
    found, word = context(said, run.first)
    if found in ("card", "account") and count <= _LONGEST_HOUSE and of_a_place(said, run.first, run.last):
        found = word = ""
    dated = said.core(run.first - 1) in _BEFORE_YEARS
    if measured(run, said):
        return ""
    if found == "birth_date" and not run.scaled and (3 <= count <= 8 or (count == 2 and dated)):
        return found
    if dated and _year(run):
        return ""
    after = len(said.tokens) - 1 - run.last
    leading = all(token.core in BETWEEN for token in said.tokens[: run.first])
    confirmed = all(token.core in CONFIRMING for token in said.tokens[: run.first])
    by_itself = alone(run.first, run.last, said)
    if confirmed and said.opened in _NUMBERS and (by_itself or (count >= (2 if leading else 3) and not run.scaled)):
        return said.opened
    told = not after and announced(run.first, said)
    if told and found in ("card", "account", "phone"):
        return found
    if run.scaled:
        # A recogniser writes "nine hundred forty six" for "nine four six".
        return "number" if every and count == 3 and (by_itself or told) else ""
    if word in SHORT and found != "order" and 3 <= count <= 6:
        return found
    if found in ("card", "account") and count >= 4:
        return found
    if found == "order" and count <= 22:
        return "number" if every and _read_out(run, by_itself) else ""
    if _telephone(run, found):
        return "phone"
    if not found and _years(run):
        return ""
    if count >= 8:
        return "account"
    if told or (every and _read_out(run, by_itself) and not _signed(run, said)):
        return "number"
    if confirmed and by_itself and count >= 3 and _goes_on(said.before, run):
        return "number"
    if count < 4 or _year(run) or after:
        return ""
    return "number" if leading or by_itself or run.spelled or _goes_on(said.before, run) else ""


def alone(first: int, last: int, said: Utterance) -> bool:
    """Whether the sentence of these tokens says nothing else."""
    begin = first
    while begin and not said.stops_after(begin - 1):
        begin -= 1
    return said.stops_after(last) and all(said.core(at) in FILLERS | CONFIRMING for at in range(begin, first))


def continued(said: Utterance) -> bool:
    """Whether a number goes on through the whole utterance, however the recogniser wrote it: `six to two`."""
    cores = [token.core for token in said.tokens]
    digits = sum(core in UNITS or core.isdigit() for core in cores)
    return (
        bool(digits)
        and said.opened not in ("", "person")
        and all(core in UNITS or core in SOUND_ALIKE or core in BETWEEN or core.isdigit() for core in cores)
    )


def measured(run: Run, said: Utterance) -> bool:
    """`five dollars`, `nine thirty a m`."""
    following, next_but_one = said.core(run.last + 1), said.core(run.last + 2)
    return following in MEASURES or (following in ("a", "p") and next_but_one == "m")


def _signed(run: Run, said: Utterance) -> bool:
    """`100+`, ` -380`: a quantity."""
    if run.first != run.last or len(run.digits) > _LONGEST_SIGNED:
        return False
    token = said.tokens[run.first]
    more = said.text[token.end : token.end + 2]
    return token.lead == " -" or (more[:1] == "+" and not more[1:].isdigit())


def announced(first: int, said: Utterance) -> bool:
    """`my phone number is five`: the rest comes in the next utterance. `The last four are`."""
    cores = [*said.past, *(token.core for token in said.tokens[:first])][-3:]
    if cores[-2:] == ["last", "four"] or cores[:2] == ["last", "four"]:
        return True
    return bool(_NUMBERED & set(cores)) and cores[-1] in _TELLS | BETWEEN


def _read_out(run: Run, alone: bool) -> bool:
    """Digit by digit, not as a quantity."""
    count = len(run.digits)
    if run.spelled:
        return count >= 3 or (alone and count == 2)
    return not _year(run) and (count >= 5 or (run.pieces == 1 and count >= 3))


def _year(run: Run) -> bool:
    return len(run.digits) == 4 and run.pieces <= 2 and not run.spelled and run.digits[:2] in ("19", "20")


def _years(run: Run) -> bool:
    """`1919-1921`."""
    return len(run.groups) == 2 and all(len(one.digits) == 4 and one.digits[:2] in ("19", "20") for one in run.groups)


def _telephone(run: Run, found: str) -> bool:
    digits, count = run.digits, len(run.digits)
    if run.plus:
        return 8 <= count <= 15
    if found == "phone":
        return 6 <= count <= 15
    return (count == 10 and digits[0] != "1") or (count == 11 and digits[0] in "01") or (count == 7 and run.pieces == 2)


def _goes_on(before: str, run: Run) -> bool:
    """The utterance before ended in digits too few to be masked."""
    past = tokenise(before)[-REACH:]
    last = next((past_run for past_run in runs(past) if past_run.last == len(past) - 1), None)
    return last is not None and not last.scaled and len(last.digits) >= 3 and len(last.digits) + len(run.digits) >= 6
