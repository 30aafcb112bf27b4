"""A new recogniser and a new language model: alone, together, and which of them earned it; and the picture of it."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import msgspec
import pytest

from finetune.gate import (
    CallErrors,
    Evidence,
    PairEvidence,
    PairSentence,
    PairVerdict,
    all_checks,
    confusion_of,
    figures,
    judge,
    pair_checks,
    pair_confusion,
)
from finetune.gate.picture import gate_svg
from finetune.gate.simulation import WORTH, hold_out
from finetune.gate.verdict import Verdict
from tenor.learn.verdicts import pair_summary

SPEECH, LANGUAGE = ("tenor-whisper-1", "hv-1"), ("tenor-language-2", "house-1")


def pairs(*, language: bool, worse: bool = False, sentences: int = 600) -> PairEvidence:
    """`language`: it is the language model that is better, else the recogniser."""
    better = hold_out(sentences, 1, candidate=0.9)
    made = []
    for one in better.sentences:
        base, new = one.champion, one.candidate
        if worse:
            base, new = new, base
        alone = (base, new) if language else (new, base)
        made.append(
            PairSentence(
                id=one.id, call=one.call, human=one.human, base=base, speech=alone[0], language=alone[1], both=new
            )
        )
    return PairEvidence(speech=SPEECH, language=LANGUAGE, sentences=made, worth=WORTH)


def speech_verdict(gain: int = 3) -> Verdict:
    calls = [
        CallErrors(
            call=str(n), words=100, champion=8 + n % 5, candidate=8 + n % 5 - gain,
            terms=5, champion_terms=2, candidate_terms=2 - gain % 2,
        )
        for n in range(40)
    ]  # fmt: skip
    evidence = Evidence(kind="speech", champion=SPEECH[0], candidate=SPEECH[1], speech=calls)
    return judge([evidence], [all_checks(evidence)])


def language_verdict(skill: float = 0.85) -> Verdict:
    evidence = replace(hold_out(1000, 1, candidate=skill), champion=LANGUAGE[0], candidate=LANGUAGE[1])
    return judge([evidence], [[*all_checks(evidence), figures(evidence)]], [confusion_of(evidence)])


def verdict(evidence: PairEvidence, gain: int = 3) -> PairVerdict:
    return PairVerdict(
        speech=speech_verdict(gain), language=language_verdict(), together=pair_checks(evidence),
        confusions=pair_confusion(evidence),
    )  # fmt: skip


@pytest.mark.slow
def test_all_four_pairs_are_told_and_which_model_earned_it() -> None:
    for language, earned in ((True, "the language model"), (False, "the speech model")):
        found = verdict(pairs(language=language))
        assert found.passed, found.lines()
        checks = {check.name: check for check in found.together}
        assert checks["both"].outcome == "passed"
        assert checks["earned by"].text.startswith(earned)
        head, before, after = checks["earned by"].details
        assert head.split() == [*LANGUAGE]
        assert (before.split()[0], after.split()[0]) == SPEECH
        assert len({before.split()[1], after.split()[2]}) == 2
        assert earned in pair_summary(found)
        text = "\n".join(found.lines())
        steps = [text.rindex(step) for step in ("1 metric of the base", "2 metric of the fine", "3 diff", "4 mean")]
        assert steps == sorted(steps)
        assert "tenor-whisper-1 + tenor-language-2" in text


def test_both_or_neither() -> None:
    """Two models that are better alone, and worse together; and one that is not better."""
    together = verdict(pairs(language=True, worse=True))
    assert together.speech.passed
    assert together.language.passed
    assert not together.passed
    assert "neither of them" in together.conclusion
    assert not verdict(pairs(language=True), gain=0).passed


def test_without_audio_that_is_labelled_each_counts_alone_and_it_is_said() -> None:
    found = verdict(PairEvidence(speech=SPEECH, language=LANGUAGE))
    assert found.passed
    assert "each model counts alone" in found.together[0].text
    few = pair_checks(pairs(language=True, sentences=60))
    assert few[0].outcome == "told"
    assert "too few" in few[0].text


def test_what_is_kept_is_read_again() -> None:
    found = verdict(pairs(language=True))
    document = msgspec.json.decode(msgspec.json.encode(found.document()))
    assert document["passed"]
    assert msgspec.convert(document, PairVerdict) == found


def test_business_terms_that_are_missed_more_often_stop_a_recogniser() -> None:
    def missed(candidate: int) -> dict[str, str]:
        calls = [
            CallErrors(
                call=str(n), words=100, champion=9, candidate=5, terms=5, champion_terms=1, candidate_terms=candidate
            )
            for n in range(20)
        ]  # fmt: skip
        evidence = Evidence(kind="speech", champion="a-1", candidate="a-2", speech=calls)
        return {check.name: check.outcome for check in all_checks(evidence)}

    assert missed(1) == {"word errors": "passed", "business terms": "passed"}
    assert missed(3)["business terms"] == "failed"


def test_figures_tell_matrices_and_intervals() -> None:
    evidence = replace(hold_out(600, 1, candidate=0.85), people_kappa=0.81)
    told = figures(evidence)
    assert "people with each other 0.81" in told.text
    text = "\n".join(told.details)
    made = confusion_of(evidence)
    assert sum(map(sum, made.champion)) == sum(map(sum, made.candidate)) == 600
    assert f"{made.candidate[1][1]:,}" in text
    assert text.count(" to ") >= 18  # three labels, three figures, two models


def test_many_labels_are_told_by_their_mistakes() -> None:
    names = [f"intent_{n}" for n in range(12)]
    better = hold_out(600, 1)
    sentences = [
        msgspec.structs.replace(
            one, human=names[n % 12], champion=names[0 if n % 3 == 0 else n % 12],
            candidate=names[1 if n % 4 == 0 else n % 12],
        )
        for n, one in enumerate(better.sentences)
    ]  # fmt: skip
    evidence = replace(better, kind="intent", sentences=sentences, worth={})
    assert any("taken for intent_1: 0, now" in line for line in figures(evidence).details)
    picture = gate_svg("many", [], [confusion_of(evidence)], ("a-1", "a-2"))
    texts = [one.text for one in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")]
    assert texts.count("others") == 4


def test_the_picture_has_every_interval_and_both_matrices() -> None:
    found = verdict(pairs(language=True))
    root = ElementTree.fromstring(gate_svg(*found.pictured()))
    texts = [one.text or "" for one in root.iter("{http://www.w3.org/2000/svg}text")]
    for name in ("word errors", "business terms missed", "distance from people", "both together", "language alone"):
        assert name in texts
    assert any(text.startswith("below 0: clears it") for text in texts)
    assert f"{found.confusions[0].candidate[1][1]:,}" in texts
    assert len(root.findall("{http://www.w3.org/2000/svg}svg")) == 2
