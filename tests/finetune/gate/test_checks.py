"""What the gate lets pass, what it stops, and when it cannot tell."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from finetune.gate import CallErrors, Evidence, FrozenAnswer, HeldOutSentence, ModelCost, Verdict, all_checks, judge
from finetune.gate.bootstrap import PairedCalls, quotient, spent_level, times_as_many
from finetune.gate.simulation import WORTH, decision, hold_out


def verdict(evidence: Evidence) -> Verdict:
    return judge([evidence], [all_checks(evidence)])


def outcomes(evidence: Evidence) -> dict[str, str]:
    return {check.name: check.outcome for check in all_checks(evidence)}


def test_a_model_that_is_clearly_better_may_be_promoted() -> None:
    found = verdict(hold_out(1000, 1, candidate=0.8))
    assert found.passed, found.lines()
    assert "may be promoted" in found.conclusion


@pytest.mark.slow
def test_a_model_that_says_neutral_to_everything_is_never_promoted() -> None:
    for seed in range(5):
        found = verdict(hold_out(1000, seed, deaf=True))
        assert found.decision == "not better"
        assert {check.name: check.outcome for check in found.checks}["nothing lost"] == "failed"


def test_an_always_neutral_model_has_a_smaller_distance_where_nearly_all_is_neutral_and_is_stopped_all_the_same() -> (
    None
):
    """The paper's mean alone would promote it."""
    sentences = [
        HeldOutSentence(
            id=str(n), call=str(n // 10), human="negative" if n % 10 == 0 else "neutral",
            champion="negative" if n % 10 in (0, 1, 2, 3) else "neutral", candidate="neutral",
        )
        for n in range(800)
    ]  # fmt: skip
    evidence = Evidence(kind="sentiment", champion="a-1", candidate="a-2", sentences=sentences, worth=WORTH)
    assert outcomes(evidence)["people's sentiment"] == "passed"
    assert verdict(evidence).decision == "not better"


@pytest.mark.slow
def test_equal_and_worse_models_are_hardly_ever_promoted() -> None:
    """At a small size; `python -m benchmarks gate` counts a thousand."""
    assert sum(decision(hold_out(600, seed)) == "better" for seed in range(40)) <= 3
    assert not any(decision(hold_out(600, seed, candidate=0.62)) == "better" for seed in range(20))


def test_too_few_labels_cannot_tell_and_say_how_many_more() -> None:
    found = verdict(hold_out(150, 1, candidate=0.9))
    assert found.decision == "cannot tell yet"
    assert found.missing >= 250
    assert "more labels" in found.conclusion


def test_a_hold_out_without_labels_is_refused() -> None:
    found = verdict(Evidence(kind="sentiment", champion="a-1", candidate="a-2"))
    assert found.decision == "not better"


def test_one_call_gives_no_interval() -> None:
    one = hold_out(600, 1, candidate=0.9)
    alike = [msgspec.structs.replace(sentence, call="only") for sentence in one.sentences]
    assert verdict(replace(one, sentences=alike)).decision == "cannot tell yet"


def test_the_four_steps_are_printed_in_the_papers_order() -> None:
    lines = "\n".join(verdict(hold_out(600, 1, candidate=0.8)).lines())
    places = [lines.index(step) for step in ("1 metric of the baseline", "2 metric of the fine", "3 diff", "4 mean")]
    assert places == sorted(places)


def test_each_attempt_on_a_hold_out_is_judged_more_strictly_and_all_together_stay_below_the_level() -> None:
    assert spent_level(1) > spent_level(2) > spent_level(10)
    assert sum(spent_level(attempt) for attempt in range(1, 10_000)) < 0.025
    first = verdict(hold_out(600, 3, candidate=0.73))
    later = verdict(replace(hold_out(600, 3, candidate=0.73), attempt=50))
    wide = [check for found in (first, later) for check in found.checks if check.name.startswith("people")]
    width = [check.high - check.low for check in wide if check.high is not None and check.low is not None]
    assert width[1] > width[0]


def test_a_group_that_is_certainly_worse_stops_it() -> None:
    better = hold_out(1200, 1, candidate=0.85)
    sentences = []
    for at, one in enumerate(better.sentences):
        group = "cards" if at % 4 == 0 else "loans"
        wrong = "neutral" if one.human != "neutral" else "negative"
        candidate = wrong if group == "cards" and at % 8 == 0 else one.candidate
        sentences.append(msgspec.structs.replace(one, groups={"queue": group}, candidate=candidate))
    evidence = replace(better, sentences=sentences)
    assert outcomes(evidence)["groups"] == "failed"
    assert any("queue cards" in check.text for check in all_checks(evidence))
    even = replace(
        better, sentences=[msgspec.structs.replace(one, groups={"queue": "all"}) for one in better.sentences]
    )
    assert outcomes(even)["groups"] == "passed"


@pytest.mark.parametrize(
    ("answers", "outcome"),
    [
        ({"champion": "positive", "candidate": "positive", "must": True}, "passed"),
        ({"champion": "positive", "candidate": "negative", "must": True}, "failed"),
        ({"champion": "negative", "candidate": "negative", "must": True}, "passed"),  # the champion cannot do it either
    ],
)
def test_sentences_that_must_hold(answers: dict[str, object], outcome: str) -> None:
    frozen = [FrozenAnswer(text="lovely", wanted="positive", **answers)]  # type: ignore[arg-type]
    fine = [FrozenAnswer(text=str(n), wanted="neutral", champion="neutral", candidate="neutral") for n in range(200)]
    assert outcomes(replace(hold_out(600, 1, candidate=0.8), frozen=[*frozen, *fine]))["frozen sentences"] == outcome


def test_a_point_less_on_frozen_sentences_stops_it() -> None:
    def answered(wrong: int) -> list[FrozenAnswer]:
        return [
            FrozenAnswer(
                text=str(n), wanted="neutral", champion="neutral", candidate="positive" if n < wrong else "neutral"
            )
            for n in range(200)
        ]

    assert outcomes(replace(hold_out(600, 1, candidate=0.8), frozen=answered(2)))["frozen sentences"] == "passed"
    assert outcomes(replace(hold_out(600, 1, candidate=0.8), frozen=answered(3)))["frozen sentences"] == "failed"


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (ModelCost(p95_ms=5.9, megabytes=30), ""),
        (ModelCost(p95_ms=6.5, megabytes=30), "times as slow"),
        (ModelCost(p95_ms=5, megabytes=300), "larger"),
        (ModelCost(p95_ms=5, megabytes=30, kept=0.98), "int8 keeps"),
    ],
)
def test_cost(after: ModelCost, said: str) -> None:
    evidence = replace(hold_out(600, 1, candidate=0.8), costs=(ModelCost(p95_ms=5, megabytes=30), after))
    [check] = [check for check in all_checks(evidence) if check.name == "cost"]
    assert check.outcome == ("failed" if said else "passed")
    assert said in check.text


def test_a_recogniser_is_judged_by_word_errors_call_by_call() -> None:
    def heard(gain: int) -> Evidence:
        calls = [CallErrors(call=str(n), words=100, champion=8 + n % 5, candidate=8 + n % 5 - gain) for n in range(40)]
        return Evidence(kind="speech", champion="whisper-1", candidate="whisper-2", speech=calls)

    assert verdict(heard(3)).passed
    assert verdict(heard(0)).decision == "not better"
    assert verdict(heard(-1)).decision == "not better"


def test_intents_are_judged_by_macro_f1_and_new_ones_are_told() -> None:
    names = ["refund", "cancel", "fees"]
    sentences = [
        HeldOutSentence(
            id=str(n), call=str(n // 5), human=names[n % 3],
            champion=names[n % 3] if n % 4 else "fees", candidate=names[n % 3] if n % 9 else "fees",
        )
        for n in range(600)
    ]  # fmt: skip
    evidence = Evidence(
        kind="intent", champion="a-1", candidate="a-2", sentences=sentences, new_labels=("pet_insurance",)
    )
    found = verdict(evidence)
    assert found.passed, found.lines()
    assert any("pet_insurance" in line for line in found.lines())


def test_a_model_that_hears_another_mood_in_recognised_text_is_stopped() -> None:
    better = hold_out(600, 1, candidate=0.85)
    sentences = [
        msgspec.structs.replace(
            one,
            champion_on_transcript=one.champion,
            candidate_on_transcript="positive" if at % 20 == 0 else one.candidate,
        )
        for at, one in enumerate(better.sentences)
    ]
    assert outcomes(replace(better, sentences=sentences))["transcripts"] == "failed"


def test_figures_of_paired_calls() -> None:
    calls = PairedCalls.of(["a", "a", "b"], [(1, 2), (1, 0), (2, 3)])
    assert calls.rows.tolist() == [[2, 2], [2, 3]]
    found = calls.difference(lambda total: quotient(total[..., 1], total[..., 0]), 0.05)
    assert found.value == 1.25
    assert not found.known  # two calls say nothing about how calls differ
    assert times_as_many(0.1, 0.1, 0.025) > times_as_many(0.2, 0.1, 0.025) > 1


def test_the_document_is_json() -> None:
    assert msgspec.json.decode(msgspec.json.encode(verdict(hold_out(600, 1)).document()))["kind"] == "sentiment"


@pytest.mark.slow
def test_a_gain_in_one_kind_is_enough_if_nothing_is_lost_in_the_other() -> None:
    better, equal = hold_out(1000, 1, candidate=0.85), replace(hold_out(4000, 2, candidate=0.7), kind="intent")
    same = [msgspec.structs.replace(one, candidate=one.champion) for one in equal.sentences]
    both = [replace(better, kinds=2), replace(equal, sentences=same, kinds=2)]
    found = judge(both, [all_checks(one) for one in both])
    assert found.passed, found.lines()
    worse = [msgspec.structs.replace(one, candidate="neutral") for one in equal.sentences]
    both[1] = replace(equal, sentences=worse, kinds=2)
    assert judge(both, [all_checks(one) for one in both]).decision == "not better"
