"""The checks, in the order in which they are printed. Each is a function of the evidence."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import NormalDist

import numpy as np

from finetune.gate.bootstrap import Array, Difference, PairedCalls, quotient, spent_level, times_as_many
from finetune.gate.evidence import Evidence, HeldOutSentence
from finetune.gate.verdict import Check, Interval, Outcome, finite, listed
from nlp.evaluation.agreement import WORSE_F1, WORSE_RECALL
from nlp.evaluation.comparison import WORSE_OWN

FEWEST_LABELS, FEWEST_LOUD = 400, 60
"""Random labels, and those among them that are not neutral, below which nothing is told."""
WORSE_FROZEN = 0.01
WORSE_GROUP, GROUP_LABELS, GROUP_LEVEL = 0.03, 100, 0.05
"""A group of so many labels must not be certainly worse by so much, at this level over all groups."""
SLOWER, SLOWEST_MS, LARGEST_MB, KEPT = 1.2, 10.0, 110.0, 0.99
"""Times the champion's p95, p95 in all, size, and what int8 keeps of full precision."""
LEVEL = 0.025
"""One-sided, of everything but the first figure, whose level is spent over attempts."""


def all_checks(evidence: Evidence) -> list[Check]:
    """Speech without people's labels of sentiment is judged by its words alone."""
    found: list[Check] = []
    if evidence.speech:
        found += [word_errors(evidence), *term_errors(evidence)]
    if evidence.sentences:
        found += [enough_labels(evidence), human_metric(evidence), quality(evidence)]
        if evidence.kind == "sentiment":
            found.append(own_metric(evidence))
        found += fairness(evidence)
    elif not evidence.speech:
        found.append(
            Check(name="labels", outcome="failed", text="the hold-out has no label that counts", must_gain=True)
        )
    if evidence.frozen:
        found.append(frozen_sentences(evidence))
    if evidence.costs:
        found.append(cost(evidence))
    if evidence.new_labels:
        found.append(
            Check(
                name="new labels",
                outcome="told",
                text=f"not judged, the champion lacks them: {listed(evidence.new_labels)}",
            )
        )
    return found


def enough_labels(evidence: Evidence) -> Check:
    """Whether there is enough to judge by."""
    count = len(evidence.sentences)
    loud = sum(one.human in evidence.loud for one in evidence.sentences)
    missing = max(0, FEWEST_LABELS - count)
    if evidence.kind == "sentiment" and loud < FEWEST_LOUD:
        missing = max(missing, math.ceil((FEWEST_LOUD - loud) / max(loud / count, 0.02)))
    text = f"{count:,} random sentences of {len({one.call for one in evidence.sentences}):,} calls"
    text += f", {loud:,} not neutral" if evidence.kind == "sentiment" else ""
    return Check(name="labels", outcome="unsure" if missing else "passed", text=text, missing=missing)


def human_metric(evidence: Evidence) -> Check:
    """The figure that must be better: distance from people's sentiment, macro-F1 of intents."""
    columns = SentenceColumns(evidence)
    level = spent_level(evidence.attempt, LEVEL) / evidence.kinds
    if evidence.kind == "sentiment":
        found = columns.calls.difference(columns.distance, level)
        better, certain = found.value < 0, found.high < 0
        name, text = "people's sentiment", f"distance {interval_text(found, '+.3f')}; below 0 is better"
        details, shown = four_steps(evidence, columns, found), "distance from people"
    else:
        found = columns.calls.difference(columns.macro_f1, level)
        better, certain = found.value > 0, found.low > 0
        name, text = f"people's {evidence.kind}", f"macro-F1 {interval_text(found, '+.1f', 100)} points"
        details, shown = (), f"{evidence.kind} macro-F1"
    interval = Interval.of(shown, found, 0.0, above=evidence.kind != "sentiment")
    return _first_figure(name, text, found, better, certain, details, len(evidence.sentences), level, interval)


def word_errors(evidence: Evidence) -> Check:
    """Word errors, call by call."""
    rows = [(one.words, one.champion, one.candidate) for one in evidence.speech]
    calls = PairedCalls.of([one.call for one in evidence.speech], rows)
    level = spent_level(evidence.attempt, LEVEL) / evidence.kinds
    found = calls.difference(lambda total: quotient(total[..., 2] - total[..., 1], total[..., 0]), level)
    words, champion, candidate = calls.rows.sum(axis=0)
    details = (
        f"{evidence.champion}: {champion / max(words, 1):.1%} of {words:,.0f} words",
        f"{evidence.candidate}: {candidate / max(words, 1):.1%}",
    )
    text = f"{interval_text(found, '+.1f', 100)} points; below 0 is better"
    return _first_figure(
        "word errors", text, found, found.value < 0, found.high < 0, details, len(evidence.speech), level,
        Interval.of("word errors", found, 0.0, above=False),
    )  # fmt: skip


def term_errors(evidence: Evidence) -> Iterator[Check]:
    """Business terms, for whose sake a recogniser is tuned: certainly no more of them are missed."""
    rows = [(one.terms, one.champion_terms, one.candidate_terms) for one in evidence.speech if one.terms]
    if not rows:
        return
    calls = PairedCalls.of([one.call for one in evidence.speech if one.terms], rows)
    found = calls.difference(lambda total: quotient(total[..., 2] - total[..., 1], total[..., 0]), LEVEL)
    said, champion, candidate = calls.rows.sum(axis=0)
    worse = found.low > 0 if found.known else found.value > 0
    text = f"{champion / said:.1%} of {said:,.0f} missed, now {candidate / said:.1%}: "
    text += f"{interval_text(found, '+.1f', 100)} points"
    yield Check(
        name="business terms", outcome="failed" if worse else "passed", text=text, value=finite(found.value),
        low=finite(found.low), high=finite(found.high),
        intervals=(Interval.of("business terms missed", found, 0.0, above=False),),
    )  # fmt: skip


def quality(evidence: Evidence) -> Check:
    """A model that says neutral to everything has a small distance, and is stopped here."""
    columns = SentenceColumns(evidence)
    bounds = {"macro-F1": (columns.calls.difference(columns.macro_f1, LEVEL), WORSE_F1)}
    if evidence.kind == "sentiment":
        bounds["non-neutral recall"] = (columns.calls.difference(columns.loud_recall, LEVEL), WORSE_RECALL)
    text = ", ".join(f"{name} {interval_text(found, '+.1f', 100)}" for name, (found, _) in bounds.items()) + " points"
    if not all(found.known for found, _ in bounds.values()):
        return Check(name="nothing lost", outcome="unsure", text=text, missing=FEWEST_LABELS)
    lost = any(found.value < worst for found, worst in bounds.values())
    certain = all(found.low > worst for found, worst in bounds.values())
    outcome: Outcome = "failed" if lost else "passed" if certain else "unsure"
    more = max(times_as_many(found.value - worst, found.error, LEVEL) for found, worst in bounds.values())
    f1, _ = bounds["macro-F1"]
    return Check(
        name="nothing lost", outcome=outcome, text=text, value=finite(f1.value), low=finite(f1.low),
        high=finite(f1.high), missing=_missing(len(evidence.sentences), more) if outcome == "unsure" else 0,
        intervals=tuple(
            Interval.of(f"{evidence.kind} {name}", found, worst, above=True) for name, (found, worst) in bounds.items()
        ),
    )  # fmt: skip


def own_metric(evidence: Evidence) -> Check:
    """Whether a sentence feels the same to the model when it was recognised as when people wrote it down."""
    there = [one for one in evidence.sentences if one.champion_on_transcript and one.candidate_on_transcript]
    if not there:
        return Check(name="transcripts", outcome="told", text="nobody wrote down what was said: not judged")
    worth = evidence.worth

    def apart(one: str, other: str) -> float:
        return abs(worth.get(one, 0.0) - worth.get(other, 0.0))

    champion = sum(apart(one.champion_on_transcript, one.champion) for one in there) / len(there)
    candidate = sum(apart(one.candidate_on_transcript, one.candidate) for one in there) / len(there)
    outcome: Outcome = "passed" if candidate - champion <= WORSE_OWN else "failed"
    text = f"transcript against recognised text: {champion:.3f}, {candidate:.3f} ({candidate - champion:+.3f})"
    return Check(name="transcripts", outcome=outcome, text=text, value=candidate - champion)


def fairness(evidence: Evidence) -> Iterator[Check]:
    """No group is certainly worse off, counting that many groups are looked at (Holm)."""
    tests: list[tuple[float, str, float]] = []
    dimensions = sorted({name for one in evidence.sentences for name in one.groups})
    for dimension in dimensions:
        sizes = Counter(one.groups[dimension] for one in evidence.sentences if one.groups.get(dimension))
        for group, size in sizes.items():
            if size >= GROUP_LABELS:
                own = [one for one in evidence.sentences if one.groups.get(dimension) == group]
                value, error = _group_difference(own)
                p = NormalDist().cdf((value + WORSE_GROUP) / error) if error else float(value >= -WORSE_GROUP)
                tests.append((p, f"{dimension} {group}", value))
    if not tests:
        return
    worse = []
    for at, (p, name, value) in enumerate(sorted(tests)):
        if p >= GROUP_LEVEL / (len(tests) - at):
            break
        worse.append(f"{name} {100 * value:+.1f}")
    lowest = min(tests, key=lambda one: one[2])
    found = f"{len(tests)} groups, none" if len(tests) > 1 else "1 group, not"
    text = f"{found} certainly worse; lowest {lowest[1]} {100 * lowest[2]:+.1f} points"
    if worse:
        text = f"certainly worse: {listed(worse)}"
    yield Check(name="groups", outcome="failed" if worse else "passed", text=text, value=lowest[2])


def frozen_sentences(evidence: Evidence) -> Check:
    """Sentences whose answer is settled."""
    broken = [one for one in evidence.frozen if one.must and one.candidate != one.wanted == one.champion]
    count = len(evidence.frozen)
    change = sum((one.candidate == one.wanted) - (one.champion == one.wanted) for one in evidence.frozen) / count
    outcome: Outcome = "failed" if broken or change < -WORSE_FROZEN else "passed"
    text = f"{100 * change:+.1f} points on {count:,}" + (f", {len(broken)} that must hold are broken" if broken else "")
    details = tuple(f"{one.text[:80]!r}: {one.candidate}, not {one.wanted}" for one in broken[:5])
    return Check(name="frozen sentences", outcome=outcome, text=text, value=change, details=details)


def cost(evidence: Evidence) -> Check:
    """Time, size, and what the small form keeps."""
    assert evidence.costs is not None
    before, after = evidence.costs
    faults = []
    if after.p95_ms > SLOWER * before.p95_ms:
        faults.append(f"{after.p95_ms / before.p95_ms:.1f} times as slow")
    if evidence.kind != "speech" and after.p95_ms > SLOWEST_MS:
        faults.append(f"slower than {SLOWEST_MS:.0f} ms")
    if after.megabytes > LARGEST_MB:
        faults.append(f"larger than {LARGEST_MB:.0f} MB")
    text = f"p95 {after.p95_ms:.1f} ms ({before.p95_ms:.1f}), {after.megabytes:.1f} MB ({before.megabytes:.1f})"
    if after.kept is not None:
        text += f", int8 keeps {after.kept:.1%} of full precision"
        if after.kept < KEPT:
            faults.append(f"less than {KEPT:.0%} of full precision")
    text += f": {', '.join(faults)}" if faults else ""
    return Check(name="cost", outcome="failed" if faults else "passed", text=text, value=after.p95_ms)


class SentenceColumns:
    """Of each call the sums from which every figure is made:

    wanted, got and right of each label for both models; distances; sentences; what is not neutral
    """

    def __init__(self, evidence: Evidence) -> None:
        labels, worth = evidence.labels, evidence.worth
        number = {label: at for at, label in enumerate(labels)}
        self._size = size = len(labels)
        rows = np.zeros((len(evidence.sentences), 5 * size + 3))
        for row, one in zip(rows, evidence.sentences, strict=True):
            human, champion, candidate = number[one.human], number[one.champion], number[one.candidate]
            row[human] += 1
            row[size + champion] += 1
            row[2 * size + candidate] += 1
            row[3 * size + human] += human == champion
            row[4 * size + human] += human == candidate
            row[-3] += abs(worth.get(one.human, 0.0) - worth.get(one.champion, 0.0))
            row[-2] += abs(worth.get(one.human, 0.0) - worth.get(one.candidate, 0.0))
            row[-1] += 1
        self._loud = [at for at, label in enumerate(labels) if label in evidence.loud]
        self.calls = PairedCalls.of([one.call for one in evidence.sentences], rows)

    def distance(self, total: Array) -> Array:
        return quotient(total[..., -2] - total[..., -3], total[..., -1])

    def mean_distances(self) -> tuple[float, float]:
        total = self.calls.rows.sum(axis=0)
        return float(total[-3] / total[-1]), float(total[-2] / total[-1])

    def macro_f1(self, total: Array) -> Array:
        """Over the labels that people gave."""
        wanted, champion, candidate, right, right_candidate = (
            total[..., at * self._size : (at + 1) * self._size] for at in range(5)
        )
        before = np.where(wanted > 0, quotient(2 * right, wanted + champion), np.nan)
        after = np.where(wanted > 0, quotient(2 * right_candidate, wanted + candidate), np.nan)
        return np.asarray(np.nanmean(after, axis=-1) - np.nanmean(before, axis=-1))

    def loud_recall(self, total: Array) -> Array:
        wanted, right, right_candidate = (
            total[..., [at * self._size + loud for loud in self._loud]].sum(axis=-1) for at in (0, 3, 4)
        )
        return quotient(right_candidate - right, wanted)


def _first_figure(
    name: str, text: str, found: Difference, better: bool, certain: bool, details: Sequence[str], count: int,
    level: float, interval: Interval,
) -> Check:  # fmt: skip
    outcome: Outcome = "passed" if certain else "unsure" if better or not found.known else "failed"
    missing = 0
    if outcome == "unsure":
        times = times_as_many(found.value, found.error, level)
        missing = _missing(count, times) if found.known else max(FEWEST_LABELS - count, 1)
    return Check(
        name=name, outcome=outcome, text=text, value=finite(found.value), low=finite(found.low),
        high=finite(found.high), missing=missing, details=tuple(details), must_gain=True, intervals=(interval,),
    )  # fmt: skip


def four_steps(evidence: Evidence, columns: SentenceColumns, found: Difference) -> tuple[str, ...]:
    """The white paper's assessment, in its order."""
    before, after = columns.mean_distances()
    return (
        f"1 metric of the baseline    {before:.3f}  {evidence.champion}",
        f"2 metric of the fine-tuned  {after:.3f}  {evidence.candidate}",
        f"3 difference                {after - before:+.3f}",
        f"4 mean over all sentences   {interval_text(found, '+.3f')}",
    )


def _missing(count: int, times: float) -> int:
    """Labels more, told as roughly as they are known."""
    more = count * (min(times, 100.0) - 1)
    step = int(10 ** max(1, int(math.log10(max(more, 10))) - 1))
    return max(step, math.ceil(more / step) * step)


def _group_difference(sentences: Sequence[HeldOutSentence]) -> tuple[float, float]:
    """Of the share of right answers, and its standard error with calls as clusters."""
    gains = [(one.candidate == one.human) - (one.champion == one.human) for one in sentences]
    mean = sum(gains) / len(gains)
    by_call: dict[str, float] = {}
    for one, gain in zip(sentences, gains, strict=True):
        by_call[one.call] = by_call.get(one.call, 0.0) + gain - mean
    clusters = len(by_call)
    error = math.sqrt(sum(value**2 for value in by_call.values()) * clusters / max(clusters - 1, 1)) / len(gains)
    return mean, error


def interval_text(found: Difference, form: str, scale: float = 1) -> str:
    if not math.isfinite(found.value):
        return "-"
    value = f"{scale * found.value:{form}}"
    return f"{value} ({scale * found.low:{form}} to {scale * found.high:{form}})" if found.known else value
