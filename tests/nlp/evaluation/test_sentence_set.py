"""A set of labelled sentences: what is right, in which group, how certainly, and what is worst."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import pytest

from nlp.evaluation.sentence_set import NO_ROLE, NOTHING, TOLD, LabelledSentence, measure, read_sentences
from nlp.inference.types import SentenceAnalysis, SentenceContext
from tenor.errors import BadInput
from tenor.taxonomy.sentiments import valence_of

SURE = 0.9


class FirstWords:
    """Says what the text says: `negative refund: ...`; without being told who speaks, always neutral."""

    versions = {"sentiment": "words-1", "intent": "words-1"}
    tasks: frozenset[str] = frozenset()
    valence = staticmethod(valence_of)

    def analyze(self, texts: Sequence[str], contexts: Sequence[SentenceContext] = ()) -> list[SentenceAnalysis]:
        return [self._one(text, context) for text, context in zip(texts, contexts, strict=True)]

    def _one(self, text: str, context: SentenceContext) -> SentenceAnalysis:
        sentiment, intent = text.partition(":")[0].split()
        sentiment = sentiment if context.role else "neutral"
        sentiments = dict.fromkeys(("negative", "neutral", "positive"), (1 - SURE) / 2) | {sentiment: SURE}
        intents = dict.fromkeys(("refund", "fees"), 1 - SURE) | {intent: SURE}
        return SentenceAnalysis(text, sentiment, sentiments, intent, SURE, intent_scores=intents, models=self.versions)


def sentence(text: str, sentiment: str, intent: str = "", **more: object) -> LabelledSentence:
    return LabelledSentence(text=text, sentiment=sentiment, intent=intent or None, role="caller", **more)  # type: ignore[arg-type]


def test_an_intent_that_would_do_as_well_is_right() -> None:
    report = measure(
        FirstWords(),
        [
            sentence("neutral fees: one", "neutral", "refund", also=("fees",)),
            sentence("neutral fees: two", "neutral", "refund"),
            sentence("neutral unknown: three", "neutral", "refund"),
        ],
    )
    figures = report.told[0].figures
    assert figures["intent accuracy"].value == pytest.approx(1 / 3)
    assert figures["answered with an intent"].value == pytest.approx(2 / 3)
    assert figures["right of those answered"].value == pytest.approx(1 / 2)


def test_what_telling_who_speaks_is_worth_is_seen() -> None:
    rows = [sentence(f"{label} fees: {n}", label, "fees") for label in ("negative", "positive") for n in range(5)]
    told = {one.name: one.figures["sentiment accuracy"].value for one in measure(FirstWords(), rows).told}
    assert told == {TOLD: 1.0, NO_ROLE: 0.0, NOTHING: 0.0}


def test_groups_are_told_apart_and_a_mean_over_labels_only_where_all_are_meant() -> None:
    rows = [
        sentence("negative fees: one", "negative", tags=("but",), medium="chat"),
        sentence("neutral fees: two", "negative", tags=("but", "flat"), medium="chat"),
        sentence("neutral fees: three", "neutral", medium="voice"),
        sentence("negative fees: four", "negative", medium="voice"),
    ]
    groups = measure(FirstWords(), rows).groups
    assert {one.name: one.sentences for one in groups["tag"]} == {"but": 2, "flat": 1}
    assert groups["tag"][0].figures["sentiment accuracy"].value == 0.5
    assert ["sentiment macro-F1" in one.figures for one in groups["medium"]] == [False, True]


def test_the_worst_mistake_comes_first_and_what_is_right_is_none() -> None:
    rows = [
        sentence("neutral fees: right", "neutral", "fees"),
        sentence("negative fees: wrong", "positive", "fees"),
        sentence("neutral refund: a little", "neutral", "fees"),
    ]
    report = measure(FirstWords(), rows)
    assert [one.wanted.text for one in report.wrong] == ["negative fees: wrong", "neutral refund: a little"]
    assert report.document(worst=1)["worst"][0]["got"]["sentiment"] == "negative"


def test_sentences_of_one_call_make_an_interval_wider() -> None:
    rows = [sentence(f"{'neutral' if n % 2 else 'negative'} fees: {n}", "neutral") for n in range(40)]
    calls = [sentence(one.text, "neutral", call=str(n % 2) + str(n // 20)) for n, one in enumerate(rows)]
    alone, together = (measure(FirstWords(), some).told[0].figures["sentiment accuracy"] for some in (rows, calls * 2))
    assert alone.low < alone.value < alone.high
    assert together.low != together.low  # four calls are too few for any


def test_labels_that_the_model_lacks_are_told() -> None:
    report = measure(
        FirstWords(), [sentence("neutral fees: one", "furious", "parking"), sentence("neutral fees: b", "neutral")]
    )
    assert report.strange == {"furious": 1, "parking": 1}


def test_lines_that_are_wrong_are_told_and_the_others_read(tmp_path: Path) -> None:
    file = tmp_path / "set.jsonl"
    file.write_bytes(
        b'{"text": "fine", "sentiment": "neutral", "hand": "mine"}\n\n{"text": " ", "sentiment": "neutral"}\n'
        b'{"text": "what"}\n{"text": "x", "role": "boss", "intent": "fees"}\n'
        b'{"text": "\xff", "intent": "fees"}\n[1]\nno\n'
        b'{"text": "last", "intent": "fees"'
    )
    rows, faults = read_sentences(file)
    assert [row.text for row in rows] == ["fine"]
    assert [fault.line for fault in faults] == [3, 4, 5, 6, 7, 8, 9]


def test_csv_and_compressed_lines_are_read(tmp_path: Path) -> None:
    table = tmp_path / "set.csv"
    table.write_text('text,intent,also,role,notes\n"a, b",fees,refund; balance,agent,x\nc,,,,\n', "utf-8-sig")
    rows, faults = read_sentences(table)
    assert rows == [LabelledSentence(text="a, b", intent="fees", also=("refund", "balance"), role="agent")]
    assert [fault.line for fault in faults] == [3]
    packed = tmp_path / "set.jsonl.gz"
    packed.write_bytes(gzip.compress(b'{"text": "a", "intent": "fees"}'))
    assert len(read_sentences(packed)[0]) == 1


@pytest.mark.parametrize("content", [b"", b"\n\n", b"{}", b"\x00\xff", b'["a"]'])
def test_a_file_without_sentences_is_refused_with_what_is_expected(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "set.jsonl"
    file.write_bytes(content)
    with pytest.raises(BadInput) as caught:
        read_sentences(file)
    assert "lines of" in caught.value.hint


def test_half_a_compressed_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "set.jsonl.gz"
    file.write_bytes(gzip.compress(b'{"text": "a", "intent": "fees"}' * 50)[:30])
    with pytest.raises(BadInput, match="cannot be read"):
        read_sentences(file)
