"""What understands the assistant's lines: the model for intents and slots, checked by rules.

The stages do not import each other, so the model of nlp meets dialog's contract here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from dialog.flow.model import Assistant
from dialog.understanding.keywords import (
    BOOK,
    CUISINE,
    KIND_OF_PLACE,
    OUR_STORE,
    PRICE_LIMIT,
    WEATHER_IDIOM,
    WORN_OUTSIDE,
    Keywords,
    fixed_phrase,
    normal,
)
from dialog.understanding.tags import CachedUnderstander
from dialog.understanding.types import Intent, Reading, Span, Understander, VersionedUnderstander
from dialog.understanding.unanswered import has_cue
from dialog.understanding.words import FUNCTION_WORDS
from tenor.bounded_dict import BoundedDict
from tenor.events import Call
from tenor.model_store.golden import check_golden
from tenor.model_store.pool import Choice, ModelPool
from tenor.model_store.promotion_log import began
from tenor.model_store.store import store_of
from tenor.settings import Settings
from tenor.taxonomy.assistant import NO_MATCH

if TYPE_CHECKING:
    from nlp.inference.assistant.assistant_model import AssistantModel, Parsed

IN_MEMORY: Final = 16
"""Versions of flows with intents of their own."""
CONSIDERED: Final = 4
"""Intents that the engine is told of."""
UNSURE: Final = 0.5
"""Below this, what the rules say counts as well."""
DOUBTED: Final = 0.65
"""The same for a model that sees nothing meant."""
CERTAIN: Final = 0.93
"""A model so sure that nothing is meant is believed."""
SURE: Final = 0.8
"""Below this, small talk and universal words may be the name of a thing ("milk")."""
SUGGESTION: Final = 0.3
PERSON: Final = "universal.person"
ALIKE: Final = 0.85
"""Cosine of a line and an example of an author's own intent from which the line has it."""
ALIKE_WORDS: Final = 0.75
"""The same for rules alone: words that they share."""
_PLAIN_QUESTION: Final = re.compile(
    r"^(?:(?:hi|hey|hello|um|uh|so|and|ok|okay|please|excuse me)\s+)*"
    r"(?:how much (?:is|are|does|do|for)\b|(?:what's|whats|what is|what are) the (?:price|cost)s? of\b|price of\b|"
    r"do (?:you|they|y'all|you guys) (?:still |currently |also )?(?:have|sell|carry|stock)\b|"
    r"got (?:any |some )?(?=\w+$)|where can (?:i|we) (?:get|buy|find|eat)\b|"
    r"where(?:'s| is) (?:the|a) (?:nearest|closest)\b)"
)
"""Questions whose first words say what is wanted."""
_OVERRULED: Final = re.compile(
    r"\b(?:(?:can|could|may) i (?:return|exchange)|(?:want|need|like|have) to (?:return|exchange)|"
    r"return policy|feel like (?:having|eating)|craving|in the mood for|"
    r"(?:i(?:'d| would) like|i want) (?:some )?(?:\w+ )?food|i (?:want|need) to buy)\b|"
    rf"{KIND_OF_PLACE}|{CUISINE}|{PRICE_LIMIT}"
)
"""Taken for nothing by the model; what the shop says about its products answers it, or a restaurant."""
_IDIOM: Final = re.compile(
    rf"\b(?:the damage for|set me back|going rate|wear (?:shorts|a tank top|flip flops)|{OUR_STORE})\b|"
    rf"\b(?:wether|wheather|weater|weahter)\b|{BOOK}|"
    rf"\b(?:{WEATHER_IDIOM}|{WORN_OUTSIDE}|what(?:'s| are) (?:their|its|your|the) hours)\b"
)
"""Says what is wanted, whatever the words mean one by one."""
_FOR_WEATHER: Final = re.compile(
    r"\b(?:have|sell|carry|stock|buy|price|cost|how much (?:is|are|does|do)|in stock|left)\b"
    r"(?=.*\b(?:snow|rain|sun|wind|ice) ?"
    r"(?:shovels?|boots?|blowers?|coats?|jackets?|pants|tires?|glasses|screen|block|hats?|breakers?|melt|scrapers?)\b)|"
    r"\b(?:how much (?:is|are|does|do)|price of|in stock|(?:do|does) (?:you|they|the store) (?:have|sell|carry|stock)|"
    r"where (?:can|do) (?:i|we) (?:buy|get|find))\b"
    r"(?=.*\b(?:umbrellas?|raincoats?|sunglasses|sunscreen|sunblock|jackets?|coats?|sweaters?)\b)"
)
"""A thing to buy that is named after the weather."""
_NAMES_THINGS: Final = frozenset(("price_check", "inventory_check", "store_location", "reserve"))
"""Intents of lines that end with a name; what is asked of a product stands behind it."""
FEW: Final = 5
"""Words of a line that is a plain question and a product, and nothing else."""
_NEEDS_WORDS: Final = frozenset(("product_info", "reserve"))
"""Intents that a few nouns alone never mean."""
_QUESTION_WORD: Final = re.compile(
    r"\b(?:what|how|which|why|when|where|who|is|are|does|do|did|can|could|will|would|should|tell|show|need|want|get|"
    r"reserve|hold|put|set|keep|save|for me|please|about|with|have|has)\b"
)
_WORD: Final = re.compile(r"\S+")
_EDGES: Final = ".,;:!?\"'()[]{}…\u201c\u201d\u2018\u2019"


def understander(
    folder: Path | None = None, *, model: bool = True, examples: Mapping[str, Sequence[str]] = {}
) -> Understander:
    """The model if there is one, else the rules. `examples` are sentences of intents of an author's own."""
    if model:
        from nlp.inference.assistant.assistant_model import DEFAULT, AssistantModel

        if folder is not None:
            return CheckedModel(open_assistant_model(folder), examples)
        if (DEFAULT / "model.onnx").is_file():
            return CheckedModel(AssistantModel(DEFAULT), examples)
    return WithExamples(Keywords(), examples) if examples else Keywords()


def with_examples(understander: Understander, examples: Mapping[str, Sequence[str]]) -> Understander:
    """The same, which also knows intents of an author's own."""
    if not examples:
        return understander
    if isinstance(understander, CachedUnderstander):
        return CachedUnderstander(with_examples(understander.understander, examples))
    if isinstance(understander, CheckedModel):
        return understander.with_examples(examples)
    return WithExamples(understander, examples)


def open_assistant_model(folder: Path) -> AssistantModel:
    """A promoted model, which must give its golden answers."""
    from nlp.inference.assistant.assistant_model import AssistantModel
    from nlp.inference.models.golden import assistant_answers

    model = AssistantModel(folder)
    check_golden(folder, model.id, lambda golden: assistant_answers(model, [one.text for one in golden]))
    return model


def assistant_models(
    settings: Settings, load: Callable[[Path | None], Understander]
) -> ModelPool[VersionedUnderstander]:
    """The assistant's models by version, each made into what understands."""

    def versioned(folder: Path | None) -> VersionedUnderstander:
        loaded = load(folder)
        return VersionedUnderstander(
            CachedUnderstander(loaded), loaded.model if isinstance(loaded, CheckedModel) else ""
        )

    return ModelPool("assistant", store_of(settings, "assistant"), versioned)


class PromotedUnderstanders:
    """Every conversation keeps the model with which it began (dialog's UnderstanderVersions)."""

    def __init__(self, pool: ModelPool[VersionedUnderstander]) -> None:
        self.pool = pool
        self._chosen: dict[str, Choice] = {}
        self._with_examples: BoundedDict[tuple[str, str], VersionedUnderstander] = BoundedDict(IN_MEMORY)
        """By model and version of the flows."""

    def of(self, call: str, info: Call, published: float, assistant: Assistant | None = None) -> VersionedUnderstander:
        self.pool.refresh()
        chosen = self.pool.choose(began(info.started_at, published), published, self._chosen.get(call))
        self._chosen[call] = chosen
        found = self.pool.get(chosen)
        if assistant is None or not assistant.examples:
            return found
        key = (found.model, assistant.version)
        if key not in self._with_examples:
            knowing = with_examples(found.understander, assistant.examples)
            self._with_examples[key] = VersionedUnderstander(knowing, found.model)
        return self._with_examples[key]

    def release(self, calls: Collection[str]) -> None:
        for call in self._chosen.keys() - set(calls):
            del self._chosen[call]
        self.pool.release(self._chosen.values())


class WithExamples:
    """Rules, and intents of an author's own by the words that a line shares with their examples."""

    def __init__(self, understander: Understander, examples: Mapping[str, Sequence[str]]) -> None:
        self._understander = understander
        self._examples = [(name, set(normal(one).split())) for name, given in examples.items() for one in given]

    def read(self, text: str) -> Reading:
        reading = self._understander.read(text)
        words = set(normal(text).split())
        name, score = max(
            ((name, 2 * len(words & one) / (len(words) + len(one) or 1)) for name, one in self._examples),
            key=lambda found: found[1],
        )
        if score < ALIKE_WORDS or score < reading.intents[0].score:
            return reading
        return msgspec.structs.replace(reading, intents=(Intent(name, score), *reading.intents))


class CheckedModel:
    """The model's reading, checked by the rules.

    - A whole line that is a universal phrase is that, whatever the model says.
    - Where both see the same intent, it is sure; where the model is unsure, the rules decide.
    - A plain question of the shop ("how much is milk") that the model takes for nothing is what the rules say.
    - Items and stores that only the rules see are suggested: the engine takes those that the catalogue knows.
    """

    def __init__(self, model: AssistantModel, examples: Mapping[str, Sequence[str]] = {}) -> None:
        from nlp.inference.assistant.guard_head import guard_of

        self._model = model
        self._guard = guard_of(model.encoder)
        self._rules = Keywords()
        self._own = self._read_examples(examples)

    def with_examples(self, examples: Mapping[str, Sequence[str]]) -> CheckedModel:
        """On the same model, which is loaded once."""
        other = copy(self)
        other._own = self._read_examples(examples)
        return other

    def _read_examples(self, examples: Mapping[str, Sequence[str]]) -> list[tuple[str, frozenset[str], Any]]:
        own = [(name, one) for name, given in examples.items() for one in given]
        read = self._model.read([text for _, text in own])
        return [(name, _content(text), one.embedding) for (name, text), one in zip(own, read, strict=True)]

    @property
    def model(self) -> str:
        return self._model.id

    def read(self, text: str) -> Reading:
        if fixed_phrase(normal(text)):
            return self._rules.read(text)
        [parsed] = self._model.read([text])
        return msgspec.structs.replace(self.check(parsed), topic=self._guard.topic(text) if self._guard else "")

    def check(self, parsed: Parsed) -> Reading:
        """What the model says of a line, with what the rules say of it."""
        text = parsed.text
        by_rules = self._rules.read(text)
        if fixed_phrase(normal(text)):
            return by_rules
        intents = [*self._own_intent(parsed), *_checked(_intents(parsed), by_rules, normal(text))]
        spans = _spans(text, parsed)
        if intents[0].name in _NAMES_THINGS:
            spans = _widened(text, spans, by_rules.spans)
        if not intents[0].name.startswith(("universal.", "smalltalk.")) or intents[0].score < SURE:
            spans += [msgspec.structs.replace(span, score=SUGGESTION) for span in by_rules.spans]
        return Reading(text=text, intents=tuple(intents), spans=tuple(spans))

    def _own_intent(self, parsed: Parsed) -> list[Intent]:
        """The author's intent whose example the line is most like, if one is near and they share a telling word."""
        words = _content(parsed.text)
        near = max(
            ((float(parsed.embedding @ vector), name) for name, content, vector in self._own if content & words),
            default=(0.0, ""),
        )
        return [Intent(near[1], min(near[0], 1.0))] if near[0] >= ALIKE else []


def _content(text: str) -> frozenset[str]:
    return frozenset(normal(text).split()) - FUNCTION_WORDS


def _checked(intents: list[Intent], by_rules: Reading, line: str) -> list[Intent]:
    if intents[0].name == PERSON and not has_cue(line, PERSON):  # "i need a dentist"
        intents = intents[1:] or [Intent(NO_MATCH, 0.0)]
    first, rule = intents[0], by_rules.intents[0]
    if first.name == rule.name:
        return [Intent(first.name, max(first.score, rule.score)), *intents[1:]]
    plain = _PLAIN_QUESTION.match(line) and (first.score < CERTAIN or _asks_for_item(line, by_rules))
    missed = first.name == NO_MATCH and (plain or _OVERRULED.search(line))
    missed = missed or (first.name.startswith("weather.") and bool(_FOR_WEATHER.search(line)))
    doubted = first.name == NO_MATCH and first.score < DOUBTED
    if (first.score < UNSURE or doubted or missed or _IDIOM.search(line)) and rule.score >= 0.9:
        return [rule, *(one for one in intents if one.name != rule.name)]
    if first.name in _NEEDS_WORDS and rule.name == NO_MATCH and not _QUESTION_WORD.search(line):
        return [Intent(NO_MATCH, 0.5), *intents]
    return intents


def _asks_for_item(line: str, by_rules: Reading) -> bool:
    """ "how much is sugar": all that follows the question is a thing."""
    words = line.split()
    return len(words) <= FEW and any(span.slot == "item.type" and line.endswith(span.text.lower().strip(".?!"))
                                     for span in by_rules.spans)  # fmt: skip


def _intents(parsed: Parsed) -> list[Intent]:
    ranked = [Intent(name, score) for name, score in parsed.ranking[:CONSIDERED]]
    if parsed.intent == NO_MATCH and ranked[0].name != NO_MATCH:
        return [Intent(NO_MATCH, parsed.intent_score), *ranked]
    return ranked or [Intent(NO_MATCH, 0.0)]


def _spans(text: str, parsed: Parsed) -> list[Span]:
    """The slots by their characters; punctuation at the edges of words belongs to none."""
    words = [(word.start(), word.end()) for word in _WORD.finditer(text)]
    spans = []
    for slot in parsed.slots:
        if slot["end"] > len(words):
            continue
        start, end = words[slot["start"]][0], words[slot["end"] - 1][1]
        while start < end and text[start] in _EDGES:
            start += 1
        while start < end and text[end - 1] in _EDGES:
            end -= 1
        if start < end:
            spans.append(Span(slot=slot["slot"], text=text[start:end], start=start, end=end))
    return spans


def _widened(text: str, spans: list[Span], by_rules: Sequence[Span]) -> list[Span]:
    """Products with the noun that ends them ("dragon egg" of "dragon egg incubator"), where the model left it out."""
    wide = []
    reach = max((one.end for one in by_rules), default=0)  # rules read the beginning of a long line only
    for at, span in enumerate(spans):
        if span.slot not in ("item.type", "item.name") or span.end >= reach:
            wide.append(span)
            continue
        whole = next(
            (one for one in by_rules if one.slot == "item.type" and one.start <= span.start and span.end < one.end),
            None,
        )
        following = next((one for one in spans[at + 1 :] if one.start >= span.end), None)
        if whole is None or (following is not None and following.start < whole.end):
            wide.append(span)
        else:
            wide.append(msgspec.structs.replace(span, text=text[span.start : whole.end], end=whole.end))
    return wide
