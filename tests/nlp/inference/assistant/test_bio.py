"""BIO sequences that are valid whatever the scores say."""

from __future__ import annotations

import numpy as np

from nlp.inference.assistant.bio import BioDecoder, spans_of

LABELS = ("B-item", "B-place", "I-item", "I-place", "O")


def scores(*likely: str) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    rows = np.full((len(likely), len(LABELS)), 0.01, np.float32)
    for row, label in enumerate(likely):
        rows[row, LABELS.index(label)] = 0.9
    return np.log(rows)


def test_the_likeliest_labels_are_taken_where_they_are_valid() -> None:
    wanted = ["O", "B-item", "I-item", "B-place", "O"]
    assert BioDecoder(LABELS).decode(scores(*wanted)) == wanted


def test_an_inside_label_never_stands_alone_or_after_another_slot() -> None:
    decoder = BioDecoder(LABELS)
    assert not decoder.decode(scores("I-item"))[0].startswith("I-")
    assert decoder.decode(scores("B-place", "I-item", "O"))[:2] != ["B-place", "I-item"]


def test_any_scores_give_a_valid_sequence() -> None:
    random = np.random.default_rng(1)
    decoder = BioDecoder(LABELS)
    for length in (1, 2, 7, 60):
        tags = decoder.decode(np.log(random.dirichlet(np.ones(len(LABELS)), length)).astype(np.float32))
        assert len(tags) == length
        for before, tag in zip(["O", *tags], tags, strict=False):
            assert not tag.startswith("I-") or before[2:] == tag[2:]


def test_no_words_have_no_tags() -> None:
    assert BioDecoder(LABELS).decode(np.zeros((0, len(LABELS)), np.float32)) == []


def test_tags_become_spans() -> None:
    assert spans_of(["B-item", "I-item", "O", "B-item", "B-item"]) == [(0, 2, "item"), (3, 4, "item"), (4, 5, "item")]
