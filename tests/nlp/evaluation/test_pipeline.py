"""What the pipeline's measure says of models, and that one which says neutral to everything is never called better."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from finetune.export.language_folder import save_card
from nlp.evaluation import pipeline
from nlp.evaluation.alignment import HypothesisWord, ReferenceSentence
from nlp.evaluation.pipeline import METRIC, Report
from nlp.evaluation.transcripts import ReferenceCall
from nlp.inference.backend import open_local
from nlp.inference.models.layered_model import HEADS, read_heads, write_heads
from nlp.inference.types import Backend
from tenor.model_store import read_card
from tenor.settings import LanguageSettings
from tests.nlp.inference.models.layered import write_layered

WORTH = {"negative": -1.0, "neutral": 0.0, "positive": 1.0}
SAID = [
    ("this is the worst service i have ever had", "negative", "this is the first service i have ever had"),
    ("i am really angry about this", "negative", "i am really angry about this"),
    ("thank you so much you have been wonderful", "positive", "thank you so much you have been one"),
    ("my order number is seven three five", "neutral", "my order number is seven three five"),
    ("one moment please", "neutral", "one moment please"),
    ("it was delivered on monday", "neutral", "it was delivered on monday"),
]


@pytest.fixture(scope="module")
def deaf(tmp_path_factory: pytest.TempPathFactory) -> Backend:
    """A model that says neutral to everything."""
    folder = write_layered(tmp_path_factory.mktemp("deaf"), {"sentiment": tuple(WORTH), "intent": ("unknown",)})
    heads = read_heads((folder / HEADS).read_bytes(), folder / HEADS)
    weight, _ = heads["sentiment"]
    heads["sentiment"] = np.zeros_like(weight), np.array([0, 20, 0], np.float32)
    write_heads(heads, folder / HEADS)
    save_card(read_card(folder), folder)
    return open_local(LanguageSettings(model=str(folder)))


@pytest.fixture(scope="module")
def ours() -> Backend:
    return open_local(LanguageSettings())


def calls(*, labelled: bool) -> list[ReferenceCall]:
    return [
        ReferenceCall(
            str(call),
            Path(f"{call}.flac"),
            [
                ReferenceSentence(
                    str(call), 0, "caller", at * 5000, at * 5000 + 4000, text, sentiment=human if labelled else ""
                )
                for at, (text, human, _) in enumerate(SAID)
            ],
        )
        for call in range(12)
    ]


def report(model: Backend, baseline: Backend, *, labelled: bool, terms: tuple[str, ...] = ()) -> Report:
    heard = [
        HypothesisWord(0, at * 5000 + 100, at * 5000 + 200, word)
        for at, (_, _, recognised) in enumerate(SAID)
        for word in recognised.split()
    ]
    sentences, errors = pipeline.hear(calls(labelled=labelled), [heard] * 12, terms)
    judged, bare = (pipeline.judge(model, sentences, WORTH, bare=bare) for bare in (False, True))
    return Report(sentences, errors, judged, bare, pipeline.judge(baseline, sentences, WORTH))


@pytest.mark.slow
def test_without_labels_a_deaf_model_is_not_called_better(deaf: Backend, ours: Backend) -> None:
    """It agrees with itself always, and ours does not."""
    found = report(deaf, ours, labelled=False)
    mean = found.document()["baseline"]["difference"]["mean difference"]
    assert mean["high"] < 0, "by the mean alone it would be"
    assert found.document()["baseline"]["outcome"] == "not worse"
    assert "cannot be told" in found.lines()[-1]
    assert not any("better than the baseline" in line for line in found.lines())
    assert found.document()["anchor"] == "itself"


def test_by_peoples_labels_a_deaf_model_is_worse(deaf: Backend, ours: Backend) -> None:
    found = report(deaf, ours, labelled=True).document()
    assert found["anchor"] == found["baseline"]["compared_by"] == "people"
    assert found["labelled"] == 72
    assert found[METRIC]["value"] == pytest.approx(0.5)  # of six sentences three are not neutral
    assert found["against_itself"]["value"] == 0
    assert found["figures"]["non-neutral recall"]["value"] == 0
    assert found["baseline"]["outcome"] in ("worse", "not better")
    assert report(ours, deaf, labelled=True).document()["baseline"]["outcome"] == "better"


def test_a_deaf_model_with_a_smaller_distance_is_stopped_by_its_recall(deaf: Backend, ours: Backend) -> None:
    """Where people find nearly everything neutral, saying so always comes nearer to them than to err sometimes."""
    mostly = calls(labelled=True)
    for call in mostly:
        for sentence in call.sentences:
            sentence.heard = sentence.text.split()
            sentence.sentiment = "negative" if sentence.text.startswith("i am really") else "neutral"
    sentences = [sentence for call in mostly for sentence in call.sentences]
    judged, theirs = (pipeline.judge(model, sentences, WORTH) for model in (deaf, ours))
    found = Report(sentences, pipeline.WordErrors(0, 1), judged, judged, theirs).comparison
    assert found is not None
    assert found.differences["mean difference"].high < 0
    assert found.outcome == "not better"
    assert "non-neutral recall" in found.text


def test_errors_on_business_terms(deaf: Backend, ours: Backend) -> None:
    found = report(ours, deaf, labelled=False, terms=("Order number", "wonderful", "Worst service", "nowhere"))
    terms = found.document()["terms"]
    assert (terms["said"], terms["missed"], terms["invented"]) == (36, 24, 0)
    assert terms["by_term"]["Order number"] == {"said": 12, "missed": 0, "invented": 0}
    assert any("business terms: 66.7% of 36 missed" in line for line in found.lines())
    assert "terms" not in report(ours, deaf, labelled=False).document()
