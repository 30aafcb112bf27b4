"""The pipeline's measure: how far is the sentiment of what was recognised from what people say it is?

    PIPELINE_SENTIMENT_METRIC = mean(diff(sentiment of the sentence, sentiment of the recognised text))

The sentiment of the sentence is what people said of it. Where nobody was asked, it is what the same model says of the
transcript: that tells what recognition costs, and nothing about which of two models is better. The difference is taken
on the scale negative -1, neutral 0, positive 1, or by the valences of labels of one's own; less is better. It stands in
for the word error rate, which is reported beside it and is no part of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from whisper_normalizer.english import EnglishTextNormalizer

from nlp.evaluation.agreement import FEWEST_CALLS, ConfusionCounts, Estimate, with_interval
from nlp.evaluation.alignment import HypothesisWord, ReferenceSentence, align, word_errors
from nlp.evaluation.comparison import Comparison, compare
from nlp.evaluation.terms import TermCounter, TermErrors
from nlp.evaluation.transcripts import ReferenceCall
from nlp.inference.types import Backend

_MARKS = re.compile(r"[^\w\s']")
METRIC = "PIPELINE_SENTIMENT_METRIC"
SHOWN_TERMS = 8


@dataclass(frozen=True)
class WordErrors:
    errors: int
    words: int
    terms: TermErrors | None = None
    """What became of the business terms, if there is a list of them."""

    @property
    def rate(self) -> float:
        return self.errors / max(1, self.words)


@dataclass(frozen=True)
class ModelJudgement:
    """What one model said of all sentences."""

    model: str
    agreement: ConfusionCounts
    pairs: list[tuple[str, str]]
    """Of each sentence: the label of the transcript, and of the recognised text."""
    people: ConfusionCounts | None = None
    """People's labels against those of the recognised text; None where nobody was asked."""

    @property
    def measured(self) -> ConfusionCounts:
        """By what it is measured: by people, if they were asked."""
        return self.people or self.agreement


def hear(
    calls: Sequence[ReferenceCall], words: Sequence[Sequence[HypothesisWord]], terms: Sequence[str] = ()
) -> tuple[list[ReferenceSentence], WordErrors]:
    """The sentences with words in them, each with what was recognised of it; and the word error rate, also that of
    business terms."""
    normal = EnglishTextNormalizer()
    counter = TermCounter(terms)
    errors = count = 0
    for call, heard in zip(calls, words, strict=True):
        align(call.sentences, heard)
        for channel in {sentence.channel for sentence in call.sentences}:
            written = " ".join(one.text for one in _ordered(call.sentences) if one.channel == channel)
            said = " ".join(word.text for word in sorted(heard, key=_start) if word.channel == channel)
            wanted, got = str(normal(written)).split(), str(normal(said)).split()
            errors += word_errors(wanted, got)
            count += len(wanted)
            counter.add(wanted, got)
    sentences = [one for call in calls for one in call.sentences if one.text]
    return sentences, WordErrors(errors, count, counter.errors if counter else None)


def judge(
    backend: Backend, sentences: Sequence[ReferenceSentence], valences: Mapping[str, float], *, bare: bool = False
) -> ModelJudgement:
    """What the model says of both forms of every sentence; `bare`: of their words alone, in lower case. A label without
    a valence is worth nothing."""
    form = _bare if bare else str
    wanted = backend.analyze([form(sentence.text) for sentence in sentences])
    got = backend.analyze([form(sentence.recognised) for sentence in sentences])
    pairs = [(one.sentiment, other.sentiment) for one, other in zip(wanted, got, strict=True)]
    by_people = [(one.sentiment, got) for one, (_, got) in zip(sentences, pairs, strict=True)]
    worth = dict.fromkeys((label for pair in [*pairs, *by_people] for label in pair if label), 0.0) | dict(valences)
    labels = sorted(worth, key=worth.__getitem__)
    own: dict[str, list[tuple[str, str]]] = {}
    labelled: dict[str, list[tuple[str, str]]] = {}
    for sentence, pair, human in zip(sentences, pairs, by_people, strict=True):
        own.setdefault(sentence.call, []).append(pair)
        if sentence.sentiment:
            labelled.setdefault(sentence.call, []).append(human)
    people = ConfusionCounts.of(labels, worth, labelled) if labelled else None
    return ModelJudgement(backend.versions["sentiment"], ConfusionCounts.of(labels, worth, own), pairs, people)


@dataclass(frozen=True)
class Report:
    sentences: Sequence[ReferenceSentence]
    words: WordErrors
    judged: ModelJudgement
    bare: ModelJudgement
    """The same model on bare words: what is left is recognition's doing, not that of capitals and full stops, which
    people who transcribe often leave out."""
    baseline: ModelJudgement | None = None

    @property
    def comparison(self) -> Comparison | None:
        """With the baseline."""
        if self.baseline is None:
            return None
        ours, theirs = self.judged, self.baseline
        return compare(ours.people, theirs.people, ours.agreement, theirs.agreement)

    @property
    def neutral_share(self) -> float:
        neutral = self.judged.agreement.neutral
        return sum(wanted in neutral for wanted, _ in self.judged.pairs) / len(self.judged.pairs)

    @property
    def warning(self) -> str:
        """What one must know before believing the mean."""
        few = "Too few calls for intervals. " if len(self.judged.measured.counts) < FEWEST_CALLS else ""
        if self.judged.people is not None:
            return f"{few}{self._labelled:,} of these sentences have people's labels, and the measure is of these."
        return few + (
            f"{self.neutral_share:.0%} of these sentences are neutral to this model. A model that says neutral to"
            " everything would get a perfect mean of 0 and an accuracy of 100 %, as no person has said what they are."
        )

    def document(self) -> dict[str, Any]:
        """What `--json` prints."""
        measured, own = self.judged.measured, self.judged.agreement
        estimates = measured.estimates()
        document = {
            METRIC: estimates["mean difference"].plain(),
            "anchor": self._anchor,
            "calls": len(own.counts),
            "sentences": len(self.sentences),
            "labelled": self._labelled,
            "not_recognised": self._missed,
            "model": self.judged.model,
            "against_itself": own.estimates()["mean difference"].plain(),
            "bare_words": self._bare_mean.plain(),
            "figures": {name: estimate.plain() for name, estimate in estimates.items()},
            "labels": list(measured.labels),
            "confusion": measured.matrix.astype(int).tolist(),
            "neutral_share": self.neutral_share,
            "word_error_rate": self.words.rate,
            "words": self.words.words,
            "note": self.warning,
        }
        if (terms := self.words.terms) is not None:
            document["terms"] = {
                "said": terms.said, "missed": terms.missed, "invented": terms.invented, "error_rate": terms.rate,
                "by_term": {term: asdict(one) for term, one in sorted(terms.counts.items())},
            }  # fmt: skip
        if self.baseline is not None and (compared := self.comparison) is not None:
            document["baseline"] = {
                "model": self.baseline.model,
                "figures": {name: one.plain() for name, one in self.baseline.measured.estimates().items()},
                "difference": {name: one.plain() for name, one in compared.differences.items()},
                "compared_by": compared.by,
                "outcome": compared.outcome,
                "verdict": compared.text,
            }
        return document

    def lines(self) -> list[str]:
        """What people read."""
        measured = self.judged.measured
        estimates = measured.estimates()
        mean_shift = estimates["mean shift"]
        lines = [
            f"{len(self.judged.agreement.counts)} calls, {len(self.sentences):,} sentences"
            f" ({self._missed} not recognised at all), model {self.judged.model}",
            f"word error rate {self.words.rate:.1%} of {self.words.words:,} words; not part of the measure",
            *self._terms(),
            "",
            f"{METRIC} {_number(estimates['mean difference'])}   mean distance on the scale -1, 0, 1; 0 is perfect",
            *self._self_comparison(),
            f"  on bare words           {_number(self._bare_mean)}   both sides in lower case, without punctuation",
            f"mean shift                {_number(mean_shift, sign=True)}   above 0: better than it was meant",
            f"accuracy                  {estimates['accuracy'].share()}",
            f"macro-F1                  {estimates['macro-F1'].share()}",
            f"non-neutral recall        {estimates['non-neutral recall'].share()}",
            f"non-neutral precision     {estimates['non-neutral precision'].share()}",
            "",
            f"{'':10}{'precision':>26}{'recall':>26}{'F1':>26}{'sentences':>11}",
        ]
        wanted = measured.matrix.sum(axis=1)
        for label, count in zip(measured.labels, wanted, strict=True):
            cells = "".join(f"{estimates[f'{name} {label}'].share():>26}" for name in ("precision", "recall", "F1"))
            lines.append(f"{label:10}{cells}{count:11,.0f}")
        lines += ["", *self._confusion(), "", self.warning]
        return lines + (["", *self._difference()] if self.baseline is not None else [])

    @property
    def _anchor(self) -> str:
        return "people" if self.judged.people is not None else "itself"

    @property
    def _labelled(self) -> int:
        return sum(bool(sentence.sentiment) for sentence in self.sentences)

    @property
    def _bare_mean(self) -> Estimate:
        return self.bare.agreement.estimates()["mean difference"]

    @property
    def _missed(self) -> int:
        return sum(not sentence.heard for sentence in self.sentences)

    def _self_comparison(self) -> list[str]:
        """Beside people's labels: what recognition alone changes."""
        if self.judged.people is None:
            return []
        mean = self.judged.agreement.estimates()["mean difference"]
        return [f"  against itself          {_number(mean)}   the model on the transcript, not on people's labels"]

    def _terms(self) -> list[str]:
        terms = self.words.terms
        if terms is None:
            return []
        told = f"business terms: {terms.rate:.1%} of {terms.said:,} missed, {terms.invented:,} invented"
        worst = ", ".join(f"{term} {one.missed} of {one.said}" for term, one in terms.worst[:SHOWN_TERMS])
        return [told + (f"; most: {worst}" if worst else "")]

    def _confusion(self) -> list[str]:
        measured = self.judged.measured
        head = "".join(f"{label:>10}" for label in measured.labels)
        rows = [
            f"{label:>10}" + "".join(f"{count:10,.0f}" for count in row)
            for label, row in zip(measured.labels, measured.matrix, strict=True)
        ]
        anchor = "what people say" if self.judged.people is not None else "sentiment of the transcript"
        return [f"rows: {anchor}, columns: sentiment of the recognised text", f"{'':10}{head}", *rows]

    def _difference(self) -> list[str]:
        assert self.baseline is not None
        compared = self.comparison
        assert compared is not None
        ours, theirs = self.judged.measured.estimates(), self.baseline.measured.estimates()
        rows = [
            f"{name:24}{_number(theirs[name]):>26}{_number(ours[name]):>26}{_number(one, sign=True):>28}"
            for name, one in compared.differences.items()
            if name in ("mean difference", "accuracy", "macro-F1", "non-neutral recall", "non-neutral precision")
        ]
        head = f"{'':24}{self.baseline.model[-24:]:>26}{self.judged.model[-24:]:>26}{'difference':>28}"
        return [head, *rows, compared.text]


def _number(estimate: Estimate, *, sign: bool = False) -> str:
    form = "+.3f" if sign else ".3f"
    return with_interval(*(f"{value:{form}}" for value in (estimate.value, estimate.low, estimate.high)))


def _bare(text: str) -> str:
    return " ".join(_MARKS.sub(" ", text.lower()).split())


def _ordered(sentences: Sequence[ReferenceSentence]) -> list[ReferenceSentence]:
    return sorted(sentences, key=lambda sentence: sentence.start_ms)


def _start(word: HypothesisWord) -> int:
    return word.start_ms
