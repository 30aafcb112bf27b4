"""Sentences from the final transcripts of a channel."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlp.sentences import Draft, SentenceBuilder, continues
from tenor.events import Transcript
from tests.nlp.rig import said


def built(*finals: Transcript, written: bool = False) -> list[Draft]:
    builder = SentenceBuilder(written=written)
    return [draft for final in finals for draft in builder.add(final)]


def newest(drafts: list[Draft]) -> dict[str, Draft]:
    """What is left when revisions have taken their predecessors' places."""
    kept: dict[str, Draft] = {}
    for draft in drafts:
        assert draft.revision == (kept[draft.id].revision + 1 if draft.id in kept else 0)
        kept[draft.id] = draft
    return kept


def test_an_utterance_may_hold_several_sentences_with_the_times_of_their_words() -> None:
    drafts = built(said("Hello there. I lost my card.", 1000))
    assert [(draft.id, draft.text, draft.start_ms, draft.end_ms) for draft in drafts] == [
        ("c/0/1000", "Hello there.", 1000, 1600),
        ("c/0/1600", "I lost my card.", 1600, 2800),
    ]


def test_a_sentence_that_goes_on_keeps_its_id_and_gets_a_revision() -> None:
    drafts = built(said("Hi. My card is", 0), said("at the old address. Thanks.", 2000))
    assert [(draft.id, draft.revision, draft.text) for draft in drafts] == [
        ("c/0/0", 0, "Hi."),
        ("c/0/300", 0, "My card is"),
        ("c/0/300", 1, "My card is at the old address."),
        ("c/0/3200", 0, "Thanks."),
    ]
    assert (drafts[2].start_ms, drafts[2].end_ms) == (300, 3200)


def test_a_sentence_may_go_on_more_than_once() -> None:
    drafts = built(said("I would like to", 0), said("pay the bill and", 2000), said("the fee.", 4000))
    assert [draft.revision for draft in drafts] == [0, 1, 2]
    assert drafts[-1].text == "I would like to pay the bill and the fee."


def test_a_sentence_that_goes_on_has_no_stop_in_the_middle() -> None:
    for first, second, whole in [
        ("The code is three.", "three nine.", "The code is three three nine."),
        ("We open at nine a.m.", "to five p.m.", "We open at nine a.m. to five p.m."),
        ("We open at nine a m.", "to five p m.", "We open at nine a m to five p m."),
        ("Well...", "maybe tomorrow.", "Well... maybe tomorrow."),
        ("I live in the old town,", "Number four.", "I live in the old town, Number four."),
    ]:
        assert built(said(first, 0), said(second, 2500))[-1].text == whole


@pytest.mark.parametrize(
    ("before", "after", "pause_ms", "answer"),
    [
        ("I would like to", "pay my bill.", 900, True),
        ("I would like to", "pay my bill.", 5000, False),
        ("I live in the old town,", "Number four.", 900, True),
        ("My number is four five", "six seven.", 900, True),
        ("My number is four five", "Six seven.", 900, False),
        ("My number is four five", "Six seven.", 100, True),
        ("I lost my card and.", "My wallet.", 900, True),
        ("I lost my card.", "and my wallet", 900, True),
        ("I lost my card.", "and my wallet", 1600, False),
        ("I lost my card.", "And my wallet", 100, False),
        ("I am very sorry about that.", "that should not have happened.", 416, False),
        ("I understand.", "that's annoying.", 416, False),
        ("The line is fine.", "but your box is very old.", 448, False),
        ("The zip code is four seven three.", "three nine two.", 448, True),
        ("We open at nine a m.", "to five p m.", 544, True),
        ("Well...", "maybe tomorrow.", 900, True),
        ("Well...", "Hello?", 900, False),
        ("i lost my card", "on friday", 600, True),
        ("i lost my card", "where are you", 1500, False),
        ("Is that right?", "yes", 100, False),
        ("", "hello", 100, True),
    ],
)
def test_when_a_sentence_goes_on(before: str, after: str, pause_ms: int, answer: bool) -> None:
    assert continues(before, after, pause_ms) is answer


def test_without_word_times_sentences_share_the_utterance() -> None:
    drafts = built(said("One two. Three four.", 1000, words=(), end_ms=3000))
    assert [(draft.start_ms, draft.end_ms) for draft in drafts] == [(1000, 1800), (1900, 3000)]


def test_words_that_are_not_the_texts_do_not_lose_it() -> None:
    final = said("Hello there. Bye.", 1000)
    other = said("something else entirely", 1000)
    drafts = built(said("Hello there. Bye.", 1000, words=other.words, end_ms=final.end_ms))
    assert [draft.text for draft in drafts] == ["Hello there.", "Bye."]


def test_sentences_of_a_text_are_named_by_its_position_and_never_joined() -> None:
    first = said("I would like to. And then", 0, utterance="c/0/0", words=())
    second = said("pay", 0, utterance="c/0/1", words=())
    drafts = built(first, second, written=True)
    assert [(draft.id, draft.text) for draft in drafts] == [
        ("c/0/0", "I would like to."),
        ("c/0/0.1", "And then"),
        ("c/0/1", "pay"),
    ]


WORDS = st.sampled_from(
    ["I", "my", "and", "card", "lost.", "Really?", "the,", "no!", "to", "...", "😀", "<b>", "نعم", "9.30"]
)
UTTERANCE = st.tuples(st.lists(WORDS, min_size=0, max_size=8), st.integers(0, 4000), st.sampled_from([0, 1, 250]))


@given(st.lists(UTTERANCE, max_size=8))
def test_no_word_is_lost_none_is_told_twice_and_ids_are_unique(utterances: list[tuple[list[str], int, int]]) -> None:
    finals, at_ms = [], 0
    for words, pause_ms, word_ms in utterances:
        at_ms += pause_ms
        finals.append(said(" ".join(words), at_ms, word_ms=word_ms))
        at_ms = finals[-1].end_ms
    kept = newest(built(*finals))
    told, given = (" ".join(one.text for one in texts).split() for texts in (kept.values(), finals))
    assert [word.rstrip(".") for word in told] == [word.rstrip(".") for word in given]
    starts = [draft.start_ms for draft in kept.values()]
    assert starts == sorted(set(starts))
    assert all(draft.start_ms <= draft.end_ms for draft in kept.values())


def test_a_sentence_knows_who_says_it_and_what_was_said_before() -> None:
    builder = SentenceBuilder()
    first = builder.add(said("Hello. My card is", 0, channel=1), "Yes?")
    longer = builder.add(said("at the old address. Thanks.", 1500, channel=1), "Go on.")
    told = [(draft.text, draft.role, draft.before) for draft in (*first, *longer)]
    assert told == [
        ("Hello.", "agent", "Yes?"),
        ("My card is", "agent", "Hello."),
        ("My card is at the old address.", "agent", "Hello."),
        ("Thanks.", "agent", "My card is at the old address."),
    ]
