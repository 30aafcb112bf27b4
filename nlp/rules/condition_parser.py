"""The `when` of a rule, read. A mapping is one condition, of one kind; its other keys say more about it."""

from __future__ import annotations

from collections.abc import Callable, Collection

from nlp.rules import metric_names
from nlp.rules.conditions import (
    AllOf,
    AnyOf,
    Condition,
    MetricCondition,
    Not,
    NotSaidCondition,
    RuleCondition,
    SearchCondition,
    SearchedSentence,
    SentenceCondition,
    SilenceCondition,
    TaskCondition,
    TimeSpan,
    leaves,
)
from nlp.rules.expression import Expression
from nlp.rules.known_names import KnownNames
from nlp.rules.pattern import Unfit
from tenor.phrases import Phrase, phrase
from tenor.search.calls import parse
from tenor.search.text import LANGUAGES, SearchFaults
from tenor.taxonomy import aspects
from tenor.yaml import fields
from tenor.yaml.nodes import Faults, Mapping, Node, Sequence, Text, meant

ANYONE = "anyone"
SIGNS: dict[str, Callable[[float], bool]] = {
    "positive": lambda valence: valence > 0,
    "neutral": lambda valence: valence == 0,
    "negative": lambda valence: valence < 0,
}
SENTENCE = ("says", "matches", "intent", "feels", "label", "caller", "agent")
"""Any of these makes a condition about sentences; several of them are about the same sentence."""
COUNTING = ("who", "sure", "in a row", "times", "within")
SPAN = ("after", "in the first")
KINDS: dict[str, tuple[str, ...]] = {
    "not said": ("not said", "who", "by"),
    "search": ("search",),
    "silence": ("silence", *SPAN),
    "overlap": ("overlap", *SPAN),
    "metric": ("metric", "above", "below", *SPAN),
    "task": ("task", "sure"),
    "rule": ("rule",),
    "all": ("all",),
    "any": ("any",),
    "not": ("not",),
    "sentence": (*SENTENCE, *COUNTING, *SPAN),
}
"""Keys that a condition of a kind may have."""
ParsedCondition = tuple[Condition | None, str]
"""A condition, and what is said when it holds and the rule has no words of its own."""


class ConditionParser:
    """Reads conditions; what is wrong goes to `faults`. Names are checked where there is something to check against."""

    def __init__(self, faults: Faults, known: KnownNames) -> None:
        self._faults = faults
        self._known = known
        self._readers: dict[str, Callable[[Mapping], ParsedCondition]] = {
            "not said": self._not_said,
            "search": self._search,
            "silence": self._silence,
            "overlap": self._overlap,
            "metric": self._metric,
            "task": self._task,
            "rule": self._rule,
            "all": lambda tree: self._several(tree, "all", AllOf),
            "any": lambda tree: self._several(tree, "any", AnyOf),
            "not": self._not,
            "sentence": self._sentence,
        }

    def read(self, node: Node) -> ParsedCondition:
        tree = fields.mapping(node, self._faults, "a condition")
        if tree is None:
            return None, ""
        kind = self._kind(tree)
        return self._readers[kind](tree) if kind else (None, "")

    def _kind(self, tree: Mapping) -> str | None:
        """What the condition is about, when its keys fit together."""
        starting = [(key, "sentence" if key.value in SENTENCE else key.value) for key, _ in tree]
        found = dict.fromkeys(kind for key, kind in starting if kind in KINDS)
        every = tuple(dict.fromkeys(name for names in KINDS.values() for name in names))
        if not found:
            for key, _ in tree:
                if key.value not in every:
                    self._faults.unknown(key, "condition", every)
            if not tree.entries or all(key.value in every for key, _ in tree):
                self._faults.add(
                    tree, "says nothing to wait for: says, intent, feels, silence, metric, ... are missing"
                )
            return None
        kind = next(iter(found))
        word = next(key.value for key, own in starting if own == kind)  # as the file has it
        for key, own in starting:
            if key.value in KINDS[kind]:
                continue
            if own in KINDS:
                self._faults.add(key, f"{key.value!r} and {word!r} are two conditions; put them under `all:` or `any:`")
            elif key.value in every:
                self._faults.add(key, f"{key.value!r} means nothing beside {word!r}")
            else:
                self._faults.unknown(key, "condition", KINDS[kind])
        return kind

    def _sentence(self, tree: Mapping) -> ParsedCondition:
        who = self._who(tree)
        sentiments = self._sentiments(tree, "feels")
        for side in ("caller", "agent"):
            if (node := tree.get(side)) is not None:
                if who or tree.get("feels") is not None:
                    self._faults.add(node, f"`{side}: ...` already says who and what they feel")
                who, sentiments = side, self._sentiments(tree, side)
        in_a_row, times = self._count(tree, "in a row"), self._count(tree, "times")
        if in_a_row and times and (node := tree.get("times")) is not None:
            self._faults.add(node, "either `in a row` or `times`")
        intents = self._names(tree, "intent", "intent", self._known.intents)
        sure = tree.get("sure")
        if sure is not None and not intents and not sentiments:
            self._faults.add(sure, "`sure` is about an intent or a sentiment, and there is neither")
        condition = SentenceCondition(
            who=who,
            phrases=self._phrases(tree, "says"),
            expressions=self._expressions(tree),
            intents=intents,
            sentiments=sentiments,
            labels=self._labels(tree),
            sure=self._share(tree, "sure"),
            in_a_row=in_a_row or 1,
            times=times or 1,
            within_ms=self._duration(tree, "within"),
            span=self._span(tree),
        )
        return condition, self._sentence_words(condition)

    def _sentence_words(self, condition: SentenceCondition) -> str:
        if condition.phrases and not condition.expressions:
            words = '{who} said "{phrase}"'
        elif condition.intents:
            words = "{who} wants: {intent}"
        elif condition.sentiments:
            words = "{who} sounds {sentiment}"
        else:
            words = "{who} said what this rule listens for"
        if condition.in_a_row > 1:
            return words + ", {count} sentences in a row"
        return words + (", {count} times" if condition.times > 1 else "")

    def _not_said(self, tree: Mapping) -> ParsedCondition:
        phrases = self._phrases(tree, "not said")
        node = tree.get("by")
        if node is None:
            self._faults.add(tree, "`not said` needs `by`: how long there is, such as 30 s or 3 sentences")
            return None, ""
        by = fields.text(node, self._faults, "`by`") or ""
        found = fields.quantity(by)
        sentences = found[0] if found and found[1] in ("sentence", "sentences") else None
        if sentences is not None and not (sentences.is_integer() and 1 <= sentences <= 1000):
            self._faults.add(node, f"`by` is a time, or 1 to 1000 sentences, not {by!r}")
        by_ms = fields.duration(node, self._faults, "`by`") if by and sentences is None else None
        if not phrases or (sentences is None and by_ms is None):
            return None, ""
        condition = NotSaidCondition(self._who(tree), phrases, by_ms, int(sentences) if sentences is not None else None)
        return condition, '{who} has not said "{phrase}"'

    def _search(self, tree: Mapping) -> ParsedCondition:
        node = tree.get("search")
        assert node is not None
        text = fields.text(node, self._faults, "`search`")
        if text is None:
            return None, ""
        known = self._known
        names = {
            "role": known.sides,
            "intent": known.intents,
            "sentiment": known.sentiments,
            "language": LANGUAGES,
            aspects.CLASSIFIER: known.aspects,
        }
        found = SearchFaults()
        there = {name: values for name, values in names.items() if values is not None}
        search = parse(text, found, there, "write it under `only for`")
        for fault in found.texts():
            self._faults.add(node, f"in the search, {fault}")
        if found:
            return None, ""
        sentences = tuple(SearchedSentence(wanted) for wanted in search.sentences)
        return SearchCondition(search, sentences), "The call has what the rule searches for"

    def _silence(self, tree: Mapping) -> ParsedCondition:
        length_ms, span = self._duration(tree, "silence"), self._span(tree)
        return (SilenceCondition(length_ms, span) if length_ms else None), "{seconds} s of silence"

    def _overlap(self, tree: Mapping) -> ParsedCondition:
        length_ms, span = self._duration(tree, "overlap"), self._span(tree)
        condition = MetricCondition("overlap_s", above=length_ms / 1000, span=span) if length_ms else None
        return condition, "Both spoke at once for {value}"

    def _metric(self, tree: Mapping) -> ParsedCondition:
        node = tree.get("metric")
        assert node is not None
        name = fields.text(node, self._faults, "`metric`")
        span = self._span(tree)
        if name is None:
            return None, ""
        if not metric_names.is_metric(name):
            sided = f"; add the side: {name}.caller or {name}.agent" if name in metric_names.SIDED else ""
            self._faults.add(node, f"there is no metric {name!r}{sided or meant(name, metric_names.NAMES)}")
            return None, ""
        side = name.partition(".")[2]
        if side and self._known.sides is not None and side not in self._known.sides:
            self._faults.add(node, f"there is no side {side!r}{meant(side, self._known.sides)}")
        limits = [tree.get("above"), tree.get("below")]
        if not any(limits):
            self._faults.add(tree, "`metric` needs `above` or `below`")
            return None, ""
        above, below = (self._limit(name, limit) for limit in limits)
        if above is not None and below is not None and above >= below:
            self._faults.add(tree, "nothing is above the one and below the other")
        if above is None and below is None:
            return None, ""
        return MetricCondition(name, above, below, span), "{figure} is {value}, the limit is {limit}"

    def _limit(self, name: str, node: Node | None) -> float | None:
        text = fields.text(node, self._faults, "a limit") if node is not None else None
        if node is None or text is None:
            return None
        value = metric_names.limit(name, text)
        if value is None:
            self._faults.add(node, f"a limit of {name} is written like {metric_names.example(name)}, not {text!r}")
        return value

    def _task(self, tree: Mapping) -> ParsedCondition:
        tasks = self._tasks(tree)
        sure = self._share(tree, "sure")
        return (TaskCondition(tasks, sure) if tasks else None), "The call is about: {task}"

    def _tasks(self, tree: Mapping) -> frozenset[str]:
        known = self._known
        if (node := tree.get("task")) is not None and known.tasks is not None and known.intents is not None:
            for name in fields.texts(node, Faults(), ""):
                if name.value in known.intents and name.value not in known.tasks:
                    self._faults.add(name, f"no call is about {name.value!r}: it is an intent without `task: true`")
            return self._names(tree, "task", "task", {*known.tasks, *known.intents})
        return self._names(tree, "task", "task", known.tasks)

    def _rule(self, tree: Mapping) -> ParsedCondition:
        rules = self._names(tree, "rule", "rule", self._known.rules)
        return (RuleCondition(rules) if rules else None), ""

    def _several(self, tree: Mapping, key: str, kind: type[AllOf] | type[AnyOf]) -> ParsedCondition:
        node = tree.get(key)
        if not isinstance(node, Sequence) or not node.items:
            self._faults.add(node or tree, f"`{key}` is a list of conditions")
            return None, ""
        found = [self.read(item) for item in node.items]
        parts = tuple(part for part, _ in found if part is not None)
        if len(parts) < len(found):
            return None, ""
        if kind is AllOf:
            return AllOf(parts), "; ".join(words for _, words in found if words)
        words = found[0][1] if len({words for _, words in found}) == 1 else "One of the things it waits for happened"
        return AnyOf(parts), words

    def _not(self, tree: Mapping) -> ParsedCondition:
        node = tree.get("not")
        assert node is not None
        part, _ = self.read(node)
        if part is not None and any(isinstance(leaf, SearchCondition) and leaf.at_the_end for leaf in leaves(part)):
            self._faults.add(node, "a search with `not` is known when the call is over: it cannot be under `not:`")
        return (Not(part) if part is not None else None), ""

    def _who(self, tree: Mapping) -> str:
        node = tree.get("who")
        who = fields.text(node, self._faults, "`who`") if node is not None else None
        sides = self._known.sides
        if isinstance(node, Text) and who is not None and sides is not None and who not in (ANYONE, *sides):
            self._faults.unknown(node, "side", (*sides, ANYONE))
        return "" if who in (None, ANYONE) else str(who)

    def _count(self, tree: Mapping, key: str) -> int | None:
        node = tree.get(key)
        return fields.count(node, self._faults, f"`{key}`") if node is not None else None

    def _duration(self, tree: Mapping, key: str) -> int | None:
        node = tree.get(key)
        return fields.duration(node, self._faults, f"`{key}`") if node is not None else None

    def _share(self, tree: Mapping, key: str) -> float:
        node = tree.get(key)
        return (fields.share(node, self._faults, f"`{key}`") or 0.0) if node is not None else 0.0

    def _span(self, tree: Mapping) -> TimeSpan:
        after, first = self._duration(tree, "after"), self._duration(tree, "in the first")
        if after and first and after >= first and (node := tree.get("after")) is not None:
            self._faults.add(node, "nothing is after this and in the first part at once")
        return TimeSpan(after or 0, first)

    def _names(self, tree: Mapping, key: str, kind: str, known: Collection[str] | None) -> frozenset[str]:
        node = tree.get(key)
        names = fields.texts(node, self._faults, f"`{key}`") if node is not None else []
        for name in names:
            if known is not None and name.value not in known:
                self._faults.unknown(name, kind, known)
        return frozenset(name.value for name in names)

    def _sentiments(self, tree: Mapping, key: str) -> frozenset[str]:
        """Labels; where a scale of one's own has no `negative`, that is every label worth less than nothing."""
        known = self._known.sentiments
        names = self._names(tree, key, "sentiment", known and (*known, *(sign for sign in SIGNS if sign not in known)))
        if known is None:
            return names
        worth = {sign: {label for label, valence in known.items() if fits(valence)} for sign, fits in SIGNS.items()}
        return frozenset(label for name in names for label in ({name} if name in known else worth.get(name, ())))

    def _labels(self, tree: Mapping) -> tuple[tuple[str, frozenset[str]], ...]:
        node = tree.get("label")
        labels = fields.mapping(node, self._faults, "`label`") if node is not None else None
        for key, _ in labels or ():
            if self._known.classifiers is not None and key.value not in self._known.classifiers:
                hint = meant(key.value, self._known.classifiers) or "; set language.classifiers"
                self._faults.add(key, f"there is no classifier {key.value!r}{hint}")
        found = [(key.value, fields.texts(value, self._faults, f"label {key.value!r}")) for key, value in labels or ()]
        for text in (text for name, texts in found if name == aspects.CLASSIFIER for text in texts):
            if self._known.aspects is not None and not aspects.named(text.value) <= {*self._known.aspects}:
                self._faults.unknown(text, "aspect", self._known.aspects)
        return tuple((name, frozenset(text.value for text in texts)) for name, texts in found)

    def _phrases(self, tree: Mapping, key: str) -> tuple[Phrase, ...]:
        node = tree.get(key)
        found = []
        for text in fields.texts(node, self._faults, f"`{key}`") if node is not None else []:
            read = phrase(text.value)
            if isinstance(read, str):
                self._faults.add(text, f"the phrase {text.value!r} {read}")
            else:
                found.append(read)
        return tuple(found)

    def _expressions(self, tree: Mapping) -> tuple[Expression, ...]:
        node = tree.get("matches")
        found = []
        for text in fields.texts(node, self._faults, "`matches`") if node is not None else []:
            try:
                found.append(Expression(text.value))
            except Unfit as unfit:
                at = f" (character {unfit.at + 1})" if unfit.at else ""
                self._faults.add(text, f"the expression {text.value!r} {unfit}{at}")
        return tuple(found)
