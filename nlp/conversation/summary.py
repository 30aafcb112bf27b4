"""The summary of a call, from what is known of it: no language model writes it, so nothing is in it that nobody said.

wanted     the caller's own sentence that says most clearly what the call is about, and other wishes
detail     what the caller answered to the agent's questions, and values that were named besides
done       what the agent said has been done, or answered
promised   what somebody said they will do, and until when
mood       how the caller's mood went
open       what nobody answered, could not be done, or should have brought a person in

Every point has its sentence. It follows from the sentences and alerts alone: the same call has the same summary.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from statistics import fmean

from nlp.inference.types import OTHER
from tenor.events import Alert, CallSummary, Outcome, Sentence, SummaryPoint
from tenor.taxonomy.intents import UNKNOWN
from tenor.taxonomy.polarity import feeling

CALLER = "caller"
"""Everybody else speaks for the house: an agent, or the assistant."""
MOST = 8
"""Points of a kind. A book that somebody reads aloud has thousands."""
LONGEST = 240
"""Characters of a point: the sentence itself is a click away."""
SURE = 0.4
"""From here on an agent's sentence counts as one that tells a result,"""
WISH = 0.8
"""and a caller's as another wish."""
ALIKE = 0.15
"""Of sentences that say the wish about as clearly, the first counts."""
ANSWER_WORDS = 40
AROUND = 5
"""Words around a value that are not worth keeping: "let's do", "I would like that for"."""
WHOLE_VALUES = frozenset({"amount", "company", "date", "product", "time"})
"""Kinds of values that are said at once. An address or a number comes in parts, not all of which are found."""
PLAIN, STRONG = 0.25, 0.5
"""What a part of a call, and one sentence, must differ from calm to be told: more than a model's error of a word."""
FEWEST_WORDS = 4
"""Shorter sentences say little of a mood,"""
ANSWERS = frozenset({"denial", "confirmation", "closing"})
"""and neither does a plain yes or no."""
COMPLAINT = "complaint"
ENOUGH_FOR_A_COURSE = 4
"""Sentences of a caller of which one can say how their mood went."""
NO_VALUES = frozenset({"greeting", "closing"})
"""What agents introduce themselves with is no value of the call."""
CONTENT = frozenset({"denial", "thanks", "closing", "praise"})
"""After these a caller wants nothing more."""

_NUMBER = (
    r"(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fourteen|fifteen|twenty(?:[ -]four)?"
    r"|thirty|forty(?:[ -]eight)?|sixty|ninety|(?:a )?few|(?:a )?couple(?: of)?|several)"
)
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_UNTIL = re.compile(
    rf"\b(?:(?:by|within|in|before|until|on|after|for|no later than|at) )?"
    rf"(?:the )?(?:latest )?(?:(?:next|this|coming|end of(?: the)?) )*"
    rf"(?:today|tonight|tomorrow|{_DAY}|(?:{_NUMBER}(?:(?: to | or |-){_NUMBER})? (?:more )?(?:(?:business|working) )?"
    rf"(?:minute|hour|day|week|month)s?)|(?<=next )(?:week|month)|(?<=this )(?:week|month))"
    rf"(?: (?:morning|afternoon|evening|at noon|night))?\b",
    re.I,
)
_PROMISE = re.compile(
    r"(?:\b(?:i|we|you|it|they|he|she|that|this|there|somebody|someone|one of us|"
    r"(?:a|an|the|your|our|my) (?:\w+ ){1,4}?)"
    r" ?(?:'ll|will| ?(?:am|are|is|'m|'re|'s) going to|shall|should (?:receive|get|have|see|arrive|be)))\b",
    re.I,
)
_NO_PROMISE = re.compile(
    r"\b(?:will that be|that(?:'ll| will) be all|"
    r"(?:'ll|will|going to) (?:just |only |quickly |also |first |now |go ahead and )*"
    r"(?:check|look|see|have a look|take a look|be happy|be glad|need|have to|ask|try|wait|hold|help|assist|pull|"
    r"be right|be with you|put you (?:on|through)|transfer you|connect you|let you go|be able|verify))\b",
    re.I,
)
_CALLERS_PROMISE = re.compile(
    r"\b(?:i|we)(?:'ll| will|'m going to| am going to|'re going to)"
    r" (?:\w+ ){0,2}?(?:pay|call|ring|send|bring|mail|email|come|return|let you know|get back|drop)\b",
    re.I,
)
_ACTED = (
    r"(?:sent|ordered|scheduled|booked|cancel\w*ed|changed|updated|blocked|reset|transferred|refunded|credited|opened|"
    r"closed|added|removed|made|placed|submitted|processed|issued|arranged|fixed|put|set|registered|activated|unlocked|"
    r"extended|upgraded|paid|reported|requested|reserved|replaced|corrected|confirmed|renewed|reversed|waived)"
)
_DONE = re.compile(
    rf"\b(?:(?:has|have)(?: now| just| already| also)? been {_ACTED}|"
    rf"(?:i|we)(?: have|'ve)?(?: now| just| already| also)* {_ACTED}|(?:i|we) went ahead|"
    r"(?:have|'ve|got) (?:you|that|it|this|one|everything|your \w+) (?:all )?"
    rf"(?:{_ACTED}|schedule|done|set up|on its way)|on (?:its|the) way|all set|taken care of)\b",
    re.I,
)
_IMPOSSIBLE = re.compile(
    r"\b(?:unfortunately|unable to|can ?not|can't|could(?:n't| not)|not (?:possible|able)|won't)\b", re.I
)
_TAIL = re.compile(
    r"[ ,.]*\b(?:(?:and|so|well) )*(?:(?:is|was) there (?:anything|something) else\b|anything else (?:i|we|that)\b|"
    r"thank(?:s| you)(?: so much)? for (?:calling|your call)|(?:you )?have a (?:great|good|nice|wonderful) ).*$",
    re.I | re.S,
)
"""With what agents end whatever they say. A recogniser often has it in the same sentence."""
_FILLERS = re.compile(
    r"^(?:(?:uh+m?|um+|uhm|h+m+|mm+|mhm|mkay|okay|ok|yes|yeah|yep|yup|sure|alright|all right|well|so|oh|and|please|"
    r"right|no problem|let me see|let's see|hello|hi|great|perfect|of course|thank you|thanks|correct|exactly|"
    r"that is correct|that's right)\b[ ,.!?…-]*)+",
    re.I,
)
_INTRODUCTION = re.compile(
    r"^(?:my name(?: is|'s)|this is) [\w' ]{1,40}?(?:,|\.| and)+ (?:and )?(?=(?:i|can|could|what|where|is)\b)", re.I
)
_LEAD_IN = re.compile(
    r"^(?:it's|it is|it'll be|that'd be|that is|that's|(?:my|the) (?:[\w']+ ){1,4}?(?:is|was)) (?=\S)", re.I
)
_QUESTION = re.compile(
    r"\b(?:what|which|when|where|who|whose)\b|\bmay i\b|\bcould (?:you|i)\b|\bcan (?:you|i (?:have|get))\b|"
    r"\bhow (?:many|much|long|often)\b|\b(?:do|did|are|is|was) (?:you|it|this|that|there)\b",
    re.I,
)
_NO_QUESTION = re.compile(r"\b(?:help you|anything else|something else|how are you|you know what)\b", re.I)
_AGAIN = re.compile(r"\b(?:repeat|again|one more time|say that|spell)\b", re.I)
MOODS = {"negative": "unhappy", "neutral": "calm", "positive": "pleased"}


@dataclass(slots=True)
class _Answer:
    """What the caller said to a question of the agent, and to being asked to say it again."""

    question: Sentence
    said: list[Sentence] = field(default_factory=list)
    again: list[Sentence] | None = None

    def take(self, sentence: Sentence) -> None:
        (self.said if self.again is None else self.again).append(sentence)

    def repeat(self) -> None:
        self._settle()
        self.again = []

    def point(self) -> SummaryPoint | None:
        self._settle()
        text = _value(self.said)
        if not text or len(text.split()) > ANSWER_WORDS:
            return None
        found = [(_kind(slot), value) for sentence in self.said for slot, value in sentence.slots.items()]
        if not found:
            return _point("detail", text, self.said[0], name=_short(_capital(_tidy(self.question.text))))
        kinds = Counter(kind for kind, _ in found)
        whole = ", ".join(dict.fromkeys(value for _, value in found))
        if len(kinds) == 1 and kinds.keys() <= WHOLE_VALUES and len(_words(text) - _words(whole)) <= AROUND:
            text = whole
        return _point("detail", text, self.said[0], name=kinds.most_common(1)[0][0])

    def _settle(self) -> None:
        """What is said again takes the place of what was said, unless only a part of it is."""
        if self.again and len(_value(self.again).split()) >= len(_value(self.said).split()):
            self.said = self.again
        self.again = None


def summarize(
    sentences: Iterable[Sentence], task: str, tasks: Set[str], alerts: Sequence[Alert] = (), *, over: bool
) -> CallSummary:
    """Of a call, whose sentences are here in their newest revision. `tasks`: what calls can be about; `over`: nothing
    more will be said."""
    said = sorted((one for one in sentences if one.language != OTHER), key=lambda one: (one.start_ms, one.channel))
    wish = _wish(said, task)
    after_ms = wish.start_ms if wish else 0
    done, promised, impossible = _results([one for one in said if one.start_ms >= after_ms])
    others = list(_other_wishes(said, task, tasks))
    last_result_ms = max((point.at_ms for point in (*done, *promised)), default=-1)
    outcome = _outcome(said, wish, done, promised, over=over)
    details = _details(said, wish, {point.sentence for point in (*done, *promised)})
    waiting = [_point("open", one.text, one) for one in others if over and one.start_ms > last_result_ms]
    if outcome == "open" and wish is not None:
        waiting.insert(0, _point("open", "Nobody said what comes of it", wish))
    elif outcome == "unconfirmed" and wish is not None:
        waiting.insert(0, _point("open", "Nobody said that it was done", wish))
    raised = [
        SummaryPoint(
            kind="open",
            id=f"open.{alert.rule}:{alert.sentence or alert.at_ms}",
            text=alert.text,
            sentence=alert.sentence,
            at_ms=alert.at_ms,
        )
        for alert in alerts
        if alert.escalation
    ]
    wanted = [_point("wanted", one.text, one) for one in ([wish] if wish else []) + others]
    kinds = (wanted, details, done, promised, _course(said), [*waiting, *impossible, *raised])
    points = tuple(point for points in kinds for point in points[:MOST])
    return CallSummary(headline=_headline(task, details), outcome=outcome, points=points)


def _wish(said: Sequence[Sentence], task: str) -> Sentence | None:
    """The sentence that says what the call is about; of a call about nothing we know, the first that says much."""
    of_task = [one for one in said if task != UNKNOWN and one.intent == task]
    by_caller = [one for one in of_task if one.role == CALLER]
    if by_caller or of_task:
        likely = max(one.intent_score for one in by_caller or of_task)
        return next(one for one in by_caller or of_task if one.intent_score >= likely - ALIKE)
    callers = (one for one in said if one.role == CALLER and one.intent not in NO_VALUES | {"identification"})
    return next((one for one in callers if len(one.text.split()) >= 5), None)


def _other_wishes(said: Sequence[Sentence], task: str, tasks: Set[str]) -> Iterator[Sentence]:
    """Of each other thing that the caller plainly wants, the first sentence."""
    seen = {task}
    for one in said:
        plain = one.intent_score >= WISH and len(one.text.split()) >= 4
        if one.role == CALLER and plain and one.intent in tasks and one.intent not in seen:
            seen.add(one.intent)
            yield one


def _results(said: Sequence[Sentence]) -> tuple[list[SummaryPoint], list[SummaryPoint], list[SummaryPoint]]:
    """What was done, what is promised, and what cannot be done."""
    done: dict[str, SummaryPoint] = {}
    promised: dict[str, SummaryPoint] = {}
    impossible: dict[str, SummaryPoint] = {}
    for one in said:
        text = _TAIL.sub("", _tidy(one.text))
        key = " ".join(text.lower().split())
        if not text:
            continue
        if one.role == CALLER:
            if _CALLERS_PROMISE.search(text):
                promised.setdefault(key, _promise(text, one))
            continue
        tells = one.intent == "resolution" and one.intent_score >= SURE
        acted = bool(_DONE.search(text))
        promises = bool(_PROMISE.search(text)) and not _NO_PROMISE.search(text) and one.intent != "ask_details"
        promises = promises and (one.intent != "hold" or bool(_UNTIL.search(text)))
        if _IMPOSSIBLE.search(text) and (tells or "unfortunately" in text.lower()):
            impossible.setdefault(key, _point("open", text, one))
            continue
        if acted or (tells and not promises):
            done.setdefault(key, _point("done", text, one))
        if promises:
            promised.setdefault(key, _promise(text, one))
    return list(done.values()), list(promised.values()), list(impossible.values())


def _promise(text: str, sentence: Sentence) -> SummaryPoint:
    until = _UNTIL.search(text)
    named = [value for slot, value in sentence.slots.items() if _kind(slot) in ("date", "time")]
    return _point("promised", text, sentence, by=sentence.role, until=until[0].strip() if until else " ".join(named))


def _outcome(
    said: Sequence[Sentence],
    wish: Sentence | None,
    done: Sequence[SummaryPoint],
    promised: Sequence[SummaryPoint],
    *,
    over: bool,
) -> Outcome:
    if done:
        return "done"
    if any(point.by != CALLER for point in promised):
        return "promised"
    if not over or wish is None:
        return ""
    callers = [one for one in said if one.role == CALLER and one.start_ms > wish.start_ms]
    content = any(one.intent in CONTENT for one in callers) and feeling(callers[-1].mood) != "negative"
    return "unconfirmed" if content else "open"


def _details(said: Sequence[Sentence], wish: Sentence | None, results: Set[str]) -> list[SummaryPoint]:
    """Values, each once: the answers to questions, then what was named besides. `results`: ids of sentences in which
    the agent told a result."""
    answers: list[_Answer] = []
    asked: _Answer | None = None
    for one in said:
        if one.role == CALLER:
            if asked is not None and asked.said and one.intent == COMPLAINT:
                asked = None  # the question is answered, and this is about something else
            if asked is not None and one is not wish:
                asked.take(one)
        elif _asks(one):
            if one.intent == "repeat" or _AGAIN.search(one.text):
                if asked is not None and asked.said:
                    asked.repeat()
            else:
                asked = _Answer(one)
                answers.append(asked)
        elif one.sentence in results or one.intent in ("offer_help", "closing"):
            asked = None
    points: list[SummaryPoint] = []
    for point in filter(None, (answer.point() for answer in answers)):
        _add(points, point)
    for one in said:
        if one.intent in NO_VALUES or (one.role != CALLER and one.sentence not in results):
            continue
        named: dict[str, list[str]] = {}
        for slot, value in one.slots.items():
            named.setdefault(_kind(slot), []).append(value)
        for name, values in named.items():
            value = values[-1] if name == "person" else ", ".join(dict.fromkeys(values))
            _add(points, _point("detail", value, one, name=name))
    return sorted(points, key=lambda point: point.at_ms)


def _add(points: list[SummaryPoint], point: SummaryPoint) -> None:
    """Unless it says what another says, or a person has been named by a longer name."""
    words = _words(point.text)
    for number, other in enumerate(points):
        both_people = point.name == other.name == "person"
        if words <= _words(other.text) or (both_people and len(words) <= len(_words(other.text))):
            return
        if _words(other.text) < words and point.name == other.name:
            points[number] = point
            return
    points.append(point)


def _asks(sentence: Sentence) -> bool:
    if sentence.intent in ("ask_details", "repeat"):
        return True
    return bool(_QUESTION.search(sentence.text)) and not _NO_QUESTION.search(sentence.text)


def _course(said: Sequence[Sentence]) -> list[SummaryPoint]:
    """How the caller's mood went, with the sentence in which it was farthest from calm."""
    callers = [one for one in said if one.role == CALLER and len(one.text.split()) >= FEWEST_WORDS]
    callers = [one for one in callers if one.intent not in ANSWERS]
    if not callers:
        return []
    strongest = max(callers, key=lambda one: abs(one.mood))
    part = max(2, len(callers) // 3) if len(callers) >= ENOUGH_FOR_A_COURSE else len(callers)
    first, last = _mood(callers[:part]), _mood(callers[-part:])
    if first != last:
        text = f"The caller was {first} at first and {last} in the end"
    elif abs(strongest.mood) >= STRONG and MOODS[feeling(strongest.mood)] != first:
        text = f"The caller was {first}, and {MOODS[feeling(strongest.mood)]} in between"
    else:
        text = f"The caller was {first} throughout"
    return [_point("mood", text, strongest)]


def _mood(said: Sequence[Sentence]) -> str:
    mean = fmean((one.mood for one in said), weights=[len(one.text.split()) for one in said])
    return MOODS[feeling(mean if abs(mean) >= PLAIN else 0.0)]


def _headline(task: str, details: Sequence[SummaryPoint]) -> str:
    """The call in a line; pages say its outcome beside it."""
    title = "" if task == UNKNOWN else _capital(task.replace("_", " ").replace(".", " ").strip())
    values = [point.text for point in details if point.name != "person" and len(point.text) <= 60][:3]
    return ": ".join(filter(None, (title, "; ".join(values))))


def _value(said: Sequence[Sentence]) -> str:
    parts = (_LEAD_IN.sub("", _tidy(one.text)).strip(" .,!?") for one in said)
    return ", ".join(part for part in parts if part)


def _tidy(text: str) -> str:
    return _FILLERS.sub("", " ".join(text.split()))


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()}…"


def _kind(slot: str) -> str:
    """Of a sentence's second date, which is called date_2: a date."""
    return re.sub(r"_\d+$", "", slot)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def _point(kind: str, text: str, sentence: Sentence, *, name: str = "", **about: str) -> SummaryPoint:
    text = _short(_tidy(text) or text)
    if kind == "wanted":
        text = _INTRODUCTION.sub("", text)
    return SummaryPoint(
        id=f"{kind}{f'.{name}' if name.isidentifier() else ''}:{sentence.sentence}",
        kind=kind,  # type: ignore[arg-type]
        text=text if kind == "detail" else _capital(text),
        sentence=sentence.sentence,
        at_ms=sentence.start_ms,
        name=name,
        **about,
    )
