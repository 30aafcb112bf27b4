"""What the head that finds names learns from."""

from __future__ import annotations

from random import Random

import pytest

from finetune.corpus.examples import TaggedText
from finetune.corpus.names_and_places import figures, names, own, replaced, with_gazetteer
from nlp.inference.name_finder import NameFinder


def test_some_names_are_never_learned() -> None:
    known, unknown = names(known=True).words, names(known=False).words
    assert set(known) == set(unknown) == {"first", "last", "city", "state", "street"}
    for kind in known:
        assert len(unknown[kind]) >= 5
        assert len(known[kind]) > 4 * len(unknown[kind])


def test_places_of_the_gazetteer_are_none_that_it_is_measured_with() -> None:
    known, wider, unknown = names(known=True), with_gazetteer(names(known=True)), names(known=False)
    assert len(wider.words["city"]) > 20 * len(known.words["city"])
    assert {"saint paul", "boise"} <= set(wider.words["city"])
    measured = {word for kind in ("city", "state", "street") for name in unknown.words[kind] for word in name.split()}
    for kind in ("city", "street"):
        added = wider.words[kind][len(known.words[kind]) :]
        assert measured.isdisjoint(word for name in added for word in name.split())


def test_our_sentences_are_marked_and_whole() -> None:
    rows = own(names(known=True), Random(7), most=10)
    assert len(rows) > 400
    assert not any(mark in row.text for row in rows for mark in "(){}|<>")
    assert any(not row.spans for row in rows)
    assert {kind for row in rows for *_, kind in row.spans} == {"person", "place"}
    for row in rows:
        assert all(row.text[start:end].strip() == row.text[start:end] != "" for start, end, _ in row.spans)


def test_a_value_is_replaced_and_its_mark_follows() -> None:
    row = TaggedText("this is ann from rome", ((8, 11, "person"), (17, 21, "place")))
    changed = replaced(row, lambda value, kind: "bartholomew" if kind == "person" else value)
    assert changed == TaggedText("this is bartholomew from rome", ((8, 19, "person"), (25, 29, "place")))


def test_the_head_that_ships_is_as_good_as_its_card_says() -> None:
    finder = NameFinder()
    measured = figures(finder, seed=7)
    assert measured == pytest.approx(finder.card.figures, abs=0.005)  # another processor rounds otherwise
    assert min(measured.values()) > 0.9
