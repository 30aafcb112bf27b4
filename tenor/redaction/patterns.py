"""The redactor: cards, accounts, telephones, e-mail, dates of birth, names, addresses, by form and by context.

Names and places that only meaning tells come from a `Finder`, if there is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tenor.events import Redaction, Word
from tenor.redaction import Finder, RedactedText, Span
from tenor.redaction.addresses import addresses
from tenor.redaction.dates import ORDINALS, Date, dates
from tenor.redaction.emails import announced, emails, has_card
from tenor.redaction.holding import held, mail_is_near
from tenor.redaction.masking import Mask, joined, masked_text, masked_words, spans, whole
from tenor.redaction.names import names, people, whole_names
from tenor.redaction.numbers.codes import code_kind, codes, formed
from tenor.redaction.numbers.runs import label, without
from tenor.redaction.numbers.verdicts import context, continued, verdicts
from tenor.redaction.passwords import passwords
from tenor.redaction.plain import plain
from tenor.redaction.utterance import Utterance

USUAL = ("card", "account", "phone", "email", "birth_date")
_WORTH_A_LOOK = re.compile(
    r"\d|@|\w\.\w|(?<![a-z])at(?![a-z])[^a-z].{0,40}\.|(?<![a-z])(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|double|triple|twenty|thirty|forty"
    r"|fifty|sixty|seventy|eighty|ninety|ten|eleven|twelve|[a-z]{2,6}teen|dot|born|birth[a-z]*|underscore|word|pwd?"
    r"|outlook|i ?cloud|yahoo|a ?o ?l|" + "|".join(ORDINALS) + r")(?![a-z])|pass(?:wd|word|code|phrase)|mail"
    r"|(?:zero|one|two|three|four|five|six|seven|eight|nine){3}",
    re.IGNORECASE,
)
_ANNOUNCED = re.compile(r"\b(\w*mail|word|pass(word|code|phrase))\b[^.?!]{,20}$", re.IGNORECASE)
"""What was said before may end in `my password is`."""
LONGEST = 2000
"""Characters that are looked at together."""
_BLANK = re.compile(r"\s")
_TELLING = re.compile(
    r"\d|@|\b(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|double|triple|dot|at)\b", re.IGNORECASE
)
"""Where a number or an address may be going on."""
_CLEAR = 30
"""Characters on either side of a place where a text is cut that tell nothing."""
_OLDEST, _YOUNGEST = 1900, 2012
"""A full date in these years is a date of birth even if nobody says so: the agent, on the other channel, did."""


class PatternRedactor:
    def __init__(
        self, kinds: Iterable[str] = USUAL, finder: Finder | None = None, levels: Mapping[str, Finder] | None = None
    ) -> None:
        """`levels`: of modes that have a finder of their own."""
        self._kinds = frozenset(kinds)
        self._levels = {level: PatternRedactor(self._kinds, own) for level, own in (levels or {}).items()}
        self._numbers = bool(self._kinds & {"card", "account", "phone", "birth_date", "number"})
        self._meaning = bool(self._kinds & {"person", "address"})
        self._growing = bool(self._kinds & {"person", "address", "email", "account"})
        """Whether words, not only digits, can grow into a secret."""
        self._finder = finder if self._meaning else None

    def at(self, level: str | None) -> PatternRedactor:
        return self._levels.get("text" if level == "text" else "audio", self)

    def redact(self, text: str, words: Sequence[Word], *, before: str = "", final: bool = True) -> RedactedText:
        seen = plain(text)
        said = Utterance(seen.text, plain(before).text)
        worth_a_look = self._meaning or _WORTH_A_LOOK.search(said.text) or _ANNOUNCED.search(said.before[-40:])
        if not self._kinds or (final and not worth_a_look):
            return RedactedText(text, tuple(words), ())
        if len(text) > LONGEST and not words:
            return self._in_parts(text, before, final=final)
        masks = self._masks(said, final=final)
        if not masks:
            return RedactedText(text, tuple(words), ())
        taken = tuple(seen.original(span) for span in spans(said.text, said.tokens, masks))
        shown, times = self._mask_words(said, masks, words)
        return RedactedText(masked_text(text, taken), shown, taken, times)

    def _in_parts(self, text: str, before: str, *, final: bool) -> RedactedText:
        """What is written may be as long as it likes; every part knows the one before, as an utterance does."""
        shown: list[str] = []
        taken: list[Span] = []
        begin = 0
        while begin < len(text):
            cut = _cut(text, begin)
            redacted = self.redact(text[begin:cut], (), before=before, final=final)
            before = redacted.text
            shown.append(redacted.text)
            taken += (Span(begin + start, begin + end, kind) for start, end, kind in redacted.spans)
            begin = cut
        return RedactedText("".join(shown), (), tuple(taken))

    def _mask_words(
        self, said: Utterance, masks: list[Mask], words: Sequence[Word]
    ) -> tuple[tuple[Word, ...], tuple[Redaction, ...]]:
        heard = [plain(word.text).text for word in words]
        if heard != said.text.split():
            # Not spelled as in the text: judge them by themselves.
            said = Utterance(" ".join("-".join(word.split()) or "-" for word in heard), said.before)
            masks = self._masks(said, final=True)
        return masked_words(words, said.tokens, masks)

    def _masks(self, said: Utterance, *, final: bool) -> list[Mask]:
        """Everything to take out, in order."""
        masks = joined(whole(said.tokens, mask) for mask in self._found(said, final=final))
        if not final:
            rest = held(said, masks, words=self._growing)
            masks = [*(mask for mask in masks if mask.last < rest.first), rest] if rest else masks
        return masks

    def _found(self, said: Utterance, *, final: bool) -> Iterator[Mask]:
        taken: set[int] = set()
        if "email" in self._kinds:
            for first, last in emails(said.tokens, final=final, near=mail_is_near(said)):
                yield Mask(first, last, "email")
                taken.update(range(first, last + 1))
            for first, last in announced(said.tokens, said.past):
                yield Mask(first, last, "email")
                taken.update(range(first, last + 1))
        for code in formed(said):
            if taken.isdisjoint(range(code.first, code.last + 1)):
                taken.update(range(code.first, code.last + 1))
                if "account" in self._kinds:
                    yield Mask(code.first, code.last, "account")
        for date in dates(said.tokens):
            if date.in_digits and label(said.tokens, date.first)[0] in ("card", "account"):
                continue  # "sort code 23-01-20"
            if taken.isdisjoint(range(date.first, date.last + 1)):
                taken.update(range(date.first, date.last + 1))
                if "birth_date" in self._kinds and _of_birth(date, said):
                    yield Mask(date.first, date.last, "birth_date")
        if "account" in self._kinds:
            yield from passwords(said)
        if "card" in self._kinds:
            yield from (Mask(at, at, "card") for at, token in enumerate(said.tokens) if has_card(token.core))
        if self._numbers:
            yield from self._found_numbers(said, taken)
        if self._meaning:
            yield from self._found_names(said, taken, final=final)

    def _found_numbers(self, said: Utterance, taken: set[int]) -> Iterator[Mask]:
        if continued(said) and said.opened != "address":
            yield Mask(0, len(said.tokens) - 1, said.opened)
            return
        for run, kind in verdicts(said, list(without(said.runs, taken)), every="number" in self._kinds):
            if kind in self._kinds or kind == "number":
                yield Mask(run.first, run.last, kind)
        for code in codes(said):
            kind = code_kind(code, said, every="number" in self._kinds)
            if (kind in self._kinds or kind == "number") and taken.isdisjoint(range(code.first, code.last + 1)):
                yield Mask(code.first, code.last, kind)

    def _found_names(self, said: Utterance, taken: set[int], *, final: bool) -> Iterator[Mask]:
        """By their context; then a model is asked, if words are left that may be names."""
        people_found: list[tuple[int, int]] = []
        places_found: list[tuple[int, int]] = []
        masks = list(self._named(said, taken, places_found))
        left = {at for at in range(len(said.tokens)) if said.strange(at)} - taken
        left -= {at for mask in masks for at in mask.tokens}
        if left and self._finder is not None:
            for start, end, kind in self._finder.find(said.text, final=final):
                covered = [at for at, token in enumerate(said.tokens) if token.start < end and token.end > start]
                if covered and taken.isdisjoint(covered):
                    (people_found if kind == "person" else places_found).append((covered[0], covered[-1]))
            masks = list(self._named(said, taken, places_found))
        if "person" in self._kinds:
            masks += people(said, people_found)
            masks += list(whole_names(said, masks, taken))
        yield from masks

    def _named(self, said: Utterance, taken: set[int], places: Iterable[tuple[int, int]]) -> Iterator[Mask]:
        if "address" in self._kinds:
            yield from (mask for mask in addresses(said, places) if taken.isdisjoint(mask.tokens))
        if "person" in self._kinds:
            yield from (mask for mask in names(said) if taken.isdisjoint(mask.tokens))


def _cut(text: str, begin: int) -> int:
    """Where the part that begins there ends: behind a blank, in the middle of no number if it can be."""
    end = begin + LONGEST
    if end >= len(text):
        return len(text)
    blanks = [blank.end() for blank in _BLANK.finditer(text, begin + LONGEST // 2, end)]
    calm = (at for at in reversed(blanks) if not _TELLING.search(text, at - _CLEAR, at + _CLEAR))
    return next(calm, blanks[-1] if blanks else end)


def _of_birth(date: Date, said: Utterance) -> bool:
    return (_OLDEST <= date.year <= _YOUNGEST) or context(said, date.first)[0] == "birth_date"
