"""Names of people, by the words around them: `my name is ...`, `this is ... calling`, `Mr ...`, letters spelled out.

What a model finds on top of that comes in as spans; everyday words are left out of those.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tenor.redaction.masking import Mask
from tenor.redaction.numbers import TIMES
from tenor.redaction.utterance import FILLERS, Utterance

LONGEST = 3
"""Words of a name that are taken after a cue; a model may find more."""
_TITLES = frozenset({"mr", "mrs", "ms", "mister", "missus", "dr", "doctor", "professor"})
_NAMES = frozenset({"name", "name's", "names", "surname", "firstname", "lastname"})
_THINGS_WITH_NAMES = "company business street product brand file user domain bank host device network school team pet"
_THINGS = frozenset(_THINGS_WITH_NAMES.split())
_AFTER_CALLER = frozenset({"calling", "speaking", "from", "with", "here", "again", "on"})
_SKIPPED = FILLERS | frozenset({"first", "last", "full", "my", "name", "uhm", "please"})
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz")
_SAID_AS_LETTERS = (
    "atm atms usa cds dvd usb url gps sms pdf iban cvv cvc ssn vpn isp hdmi ceo faq pin asap eta irs ups apr"
)
_ABBREVIATIONS = frozenset(_SAID_AS_LETTERS.split())
_LIKE = (("as", "in"), ("for",), ("like",))


def names(said: Utterance) -> Iterator[Mask]:
    for at in range(len(said.tokens)):
        if cued(said, at) and (taken := _strange_from(said, at)):
            yield Mask(at, at + taken - 1, "person")
    yield from _spelled(said)


def people(said: Utterance, found: Iterable[tuple[int, int]]) -> Iterator[Mask]:
    """Tokens a model takes for a name, without the everyday words among them."""
    for first, last in found:
        for at in range(first, last + 1):
            if said.strange(at):
                yield Mask(at, at, "person")


def cued(said: Utterance, at: int) -> bool:
    """Whether the words before token `at` announce a name that begins there."""
    before = at - 1
    while before >= 0 and said.core(before) in _SKIPPED and said.core(before) not in ("name", "is"):
        before -= 1
    cores = [said.core(place) for place in range(max(0, before - 2), before + 1)]
    if before < 2:
        cores = [*said.past[-3:], *cores]
    if said.core(at - 1) in _TITLES:
        return True
    if not cores or (before >= 0 and said.stops_after(before)):
        return False
    if cores[-1] == "is":
        cores.pop()
        if cores and cores[-1] == "this":
            return any(said.core(place) in _AFTER_CALLER for place in range(at + 1, at + 4))
    elif cores[-1] not in ("name's", "surname") and said.core(at - 1) not in ("name", *_SKIPPED):
        return False
    return bool(cores) and cores[-1] in _NAMES and (len(cores) < 2 or cores[-2] not in _THINGS)


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
        while used := _letter(said, end):
            end += used
            letters += 1
        if letters >= 3 and not _known(said, at, end):
            yield Mask(at, end - 1, "person")
        at = max(end, at + 1)


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
