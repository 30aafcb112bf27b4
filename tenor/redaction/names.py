"""Names of people, by the words around them: `my name is ...`, `this is ... calling`, `Mr ...`, letters spelled out.

What a model finds on top of that comes in as spans; everyday words are left out of those.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tenor.redaction.dates import MONTHS
from tenor.redaction.masking import Mask
from tenor.redaction.numbers.runs import apart
from tenor.redaction.numbers.spoken import TIMES
from tenor.redaction.utterance import Utterance

LONGEST = 3
"""Words of a name that are taken after a cue; a model may find more."""
_TITLES = frozenset({"mr", "mrs", "ms", "mister", "missus", "dr", "doctor", "professor"})
_BEGINNING = "will shall unlike perhaps meanwhile regards sincerely re attn hola ooh oops yo"
_OPENING = frozenset(_BEGINNING.split())
"""Begin a sentence with a capital, and a name may follow."""
_THINGS_WITH_NAMES = "company business street product brand file user domain bank host device network school team pet"
_THINGS = frozenset(_THINGS_WITH_NAMES.split())
_AFTER_CALLER = frozenset({"calling", "speaking", "from", "with", "here", "again", "on"})
_FILLERS = r"(?: (?:is|was|it's|uh|um|uhm|er|erm|also|actually|like|and|my|please))*"
_NAME_IS = re.compile(rf"(?:^|(\S+) )(?:names?|name's|surname|firstname|lastname){_FILLERS}$")
_THIS_IS = re.compile(r"(?:^| )this is(?: (?:uh|um|er))*$")
_REACH = 7
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz")
_SAID_AS_LETTERS = (
    "atm atms usa cds dvd usb url gps sms pdf iban cvv cvc ssn vpn isp hdmi ceo faq pin asap eta irs ups apr ibm"
)
_ABBREVIATIONS = frozenset(_SAID_AS_LETTERS.split())
_LIKE = (("as", "in"), ("for",), ("like",))


def names(said: Utterance) -> Iterator[Mask]:
    for at in range(len(said.tokens)):
        if (taken := _strange_from(said, at)) and cued(said, at):  # few words are strange: the cheap question first
            yield Mask(at, at + taken - 1, "person")
    yield from _spelled(said)


def people(said: Utterance, found: Iterable[tuple[int, int]]) -> Iterator[Mask]:
    """Tokens a model takes for a name, without the everyday words among them."""
    for first, last in found:
        for at in range(first, last + 1):
            if said.strange(at):
                yield Mask(at, at, "person")


def whole_names(said: Utterance, found: Iterable[Mask], taken: set[int]) -> Iterator[Mask]:
    """The rest of names in writing, `Nguyen Van Thanh`: words with a capital right beside what was found."""
    for first, last, kind in found:
        if kind == "person":
            before, after = first, last
            while after - last < LONGEST and after + 1 not in taken and _goes_with(said, after, after + 1):
                after += 1
            while first - before < LONGEST and before - 1 not in taken and _goes_with(said, before - 1, before - 1):
                before -= 1
            yield Mask(before, after, "person")


def _goes_with(said: Utterance, gap: int, at: int) -> bool:
    """Whether token `at` may be part of a name, with only a space or a hyphen between tokens `gap` and the next."""
    if at < 0 or not said.strange(at) or said.core(at) in MONTHS | _TITLES:
        return False
    if said.core(at) in _OPENING and (at == 0 or said.stops_after(at - 1)):
        return False
    token = said.tokens[at]
    between = said.text[said.tokens[gap].end : said.tokens[gap + 1].start]
    word = said.text[token.start : token.end]
    return between in (" ", "-") and word.isalpha() and word[0].isupper() and not word.isupper()


def cued(said: Utterance, at: int) -> bool:
    """Whether the words before token `at` announce a name that begins there."""
    if said.core(at - 1) in _TITLES:
        return True
    lead = _lead(said, at)
    if named := _NAME_IS.search(lead):
        return named[1] not in _THINGS
    return bool(_THIS_IS.search(lead)) and any(said.core(place) in _AFTER_CALLER for place in range(at + 1, at + 4))


def _lead(said: Utterance, at: int) -> str:
    """The last words of the sentence before token `at`."""
    first = at
    while first and at - first < _REACH and not said.stops_after(first - 1):
        first -= 1
    words = [said.core(place) for place in range(first, at)]
    return " ".join([*said.past, *words][-_REACH:] if first == 0 else words)


def _strange_from(said: Utterance, at: int) -> int:
    """How many words in a row, from `at`, may be a name."""
    taken = 0
    while taken < LONGEST and said.strange(at + taken):
        taken += 1
        if said.stops_after(at + taken - 1) or said.comma_after(at + taken - 1):
            break
    return taken


def _spelled(said: Utterance) -> Iterator[Mask]:
    """`s m i t h`, `S-M-I-T-H`, `d for david`, `double l`: three letters and more."""
    at = 0
    while at < len(said.tokens):
        end, letters = at, 0
        while (used := _letter(said, end)) and not (letters and _apart(said, end)):
            end += used
            letters += 1
        if letters >= 3 and not _known(said, at, end):
            yield Mask(at, end - 1, "person")
        at = max(end, at + 1)


def _apart(said: Utterance, at: int) -> bool:
    """`w/o a` is spelled no more than `w = o`."""
    return "/" in said.tokens[at].lead or apart(said.tokens, at)


def _known(said: Utterance, first: int, end: int) -> bool:
    """An abbreviation, or one letter stammered."""
    letters = "".join(said.core(at) for at in range(first, end))
    return letters in _ABBREVIATIONS or len(set(letters)) == 1


def _letter(said: Utterance, at: int) -> int:
    """How many tokens the letter at `at` takes; 0 when there is none."""
    if said.core(at) in TIMES and said.core(at + 1) in _LETTERS:
        return 2
    if said.core(at) not in _LETTERS:
        return 0
    for like in _LIKE:
        here = tuple(said.core(place) for place in range(at + 1, at + 1 + len(like)))
        word = at + 1 + len(like)
        if here == like and said.core(word) and said.core(word)[0] == said.core(at):
            return len(like) + 2
    return 1
