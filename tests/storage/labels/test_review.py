"""What is reviewed first, what people say, and how far they agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import count
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlmodel import Session, col

from storage import sample
from storage.db.engine import Database
from storage.labels import review
from storage.labels.labels import correct
from storage.labels.trust import agreement, checks, holds
from storage.tables import Audit, Call, Label, Sentence
from storage.viewer import Viewer
from tenor.errors import BadInput
from tests.storage.conversations import NAMES

ANN, BOB, CIS = Viewer("ann", "analyst"), Viewer("bob", "manager"), Viewer("cis", "administrator")
_number = count()


def add(
    database: Database,
    text: str = "",
    sentiment: str = "neutral",
    sure: float = 0.9,
    *,
    agent: str = "x",
    reserved: bool = False,
    **about: Any,
) -> str:
    """A call of one sentence; its id. Not one of those that are only shown as drawn at random, unless wanted."""
    number = next(number for number in _number if review.is_reserved(f"c{number}/0/0") is reserved)
    others = [name for name in ("negative", "neutral", "positive") if name != sentiment]
    scores = {sentiment: sure, others[0]: (1 - sure) / 2, others[1]: (1 - sure) / 2}
    with database.begin() as session:
        session.add(Call(id=f"c{number}", agent=agent, state="analysed", roles=["caller", "agent"]))
        session.flush()
        fields: dict[str, Any] = {"intent": "payment", "intent_score": 0.9, "spoken_at": float(number)} | about
        session.add(
            Sentence(
                id=f"c{number}/0/0", call=f"c{number}", channel=0, role="caller", start_ms=0, end_ms=900,
                text=text or f"sentence {number}", sentiment=sentiment, sentiment_scores=scores, **fields,
            )
        )  # fmt: skip
    return f"c{number}/0/0"


def said(
    database: Database, viewer: Viewer, sentence: str, value: str, kind: review.Kind = "sentiment"
) -> review.ReviewedLabel:
    with database.session() as session:
        return review.answer(session, viewer, sentence, kind, value, 2.5, names=NAMES)


def waiting(
    database: Database, viewer: Viewer, kind: review.Kind = "sentiment", limit: int = 20
) -> list[review.ReviewItem]:
    with database.session() as session:
        return review.queue(session, viewer, kind, limit)


def test_what_is_in_doubt_comes_first(database: Database) -> None:
    sure = [add(database, sure=0.95) for _ in range(3)]
    unsure = add(database, sure=0.45)
    less_unsure = add(database, sure=0.6)
    disputed, seconded = add(database), add(database)
    said(database, BOB, disputed, "negative")
    said(database, CIS, disputed, "neutral")
    said(database, BOB, seconded, "neutral")
    found = {one.sentence: one.why for one in waiting(database, ANN)}
    assert [*found][:4] == [disputed, unsure, less_unsure, seconded]
    assert [*found.values()][:4] == ["disputed", "unsure", "unsure", "second"]
    assert {*found} - {disputed, unsure, less_unsure, seconded} == {*sure}


def test_a_quarter_is_drawn_at_random_whatever_else_there_is(database: Database) -> None:
    """Of sentences that come for no other reason, the same for everybody: so two people look at each."""
    kept = [add(database, sure=0.3, novelty=0.9, reserved=True) for _ in range(6)]
    others = [add(database, sure=0.4) for _ in range(30)]
    found = waiting(database, ANN)
    at_random = [one.sentence for one in found if one.why == "sample"]
    assert [number for number, one in enumerate(found, 1) if one.why == "sample"] == [4, 8, 12, 16, 20]
    assert set(at_random) < set(kept)
    assert {one.sentence for one in found} - set(at_random) < set(others)
    assert [one.sentence for one in waiting(database, BOB) if one.why == "sample"] == at_random
    for sentence in others:
        said(database, ANN, sentence, "neutral")
    assert [one.why for one in waiting(database, ANN)] == ["sample"] * 6


def test_what_two_people_agree_on_is_asked_as_a_control_now_and_then(database: Database) -> None:
    for _ in range(25):
        add(database, sure=0.4)
    known = [add(database) for _ in range(3)]
    for sentence in known:
        said(database, BOB, sentence, "negative")
        said(database, CIS, sentence, "negative")
    found = waiting(database, ANN)
    assert [(number, one.sentence in known) for number, one in enumerate(found, 1) if one.why == "control"] == [
        (10, True)
    ]
    with database.session() as session:
        review.answer(session, ANN, known[0], "sentiment", "negative", names=NAMES, why="control")
        review.answer(session, ANN, known[1], "sentiment", "neutral", names=NAMES, why="control")
        assert checks.control_results(session, "sentiment") == {"ann": (1, 2)}


def test_what_is_new_to_the_model_and_what_it_doubts_comes_too(database: Database) -> None:
    novel = add(database, novelty=0.6)
    add(database, novelty=0.1)
    for _ in range(5):
        said(database, BOB, add(database, sentiment="neutral", sure=0.9), "neutral")
        said(database, BOB, add(database, sentiment="positive", sure=0.9), "positive")
    doubted = add(database, sentiment="positive", sure=0.97)
    said(database, BOB, doubted, "neutral")
    why = {one.sentence: one.why for one in waiting(database, ANN, limit=40)}
    assert (why[novel], why[doubted]) == ("novel", "doubted")


def test_whose_labels_are_unlike_everybody_elses_is_held_at_once(database: Database) -> None:
    """Who hides negatives, after the twenty-fifth label at the latest."""
    truth = ["negative", "neutral", "positive"]
    sentences = [add(database) for _ in range(75)]
    for number, sentence in enumerate(sentences):
        for viewer in (ANN, BOB):
            said(database, viewer, sentence, truth[number % 3])
    with database.session() as session:
        assert checks.suspicions(session) == []
    for number, sentence in enumerate(sentences):
        said(database, CIS, sentence, "neutral" if number % 3 == 0 else truth[number % 3])
    with database.session() as session:
        [held] = holds.holds(session)
        assert (held.author, held.by) == ("cis", "")
        assert "that colleagues call negative they call 0% so" in held.reason
        assert session.scalar(select(func.count()).select_from(Label).where(col(Label.held))) == 75
        assert {label.value for label in checks.trusted_labels(session, "sentiment")} == set(truth)
        holds.release(session, "cis", Viewer("root", "administrator"))
        assert checks.suspicions(session) == [], "a person has decided"


def test_what_is_trained_on_and_what_is_measured_with(database: Database) -> None:
    agreed, alone, split, own = (add(database, reserved=True, agent="bob") for _ in range(4))
    chosen = add(database)
    for sentence, answers in (
        (agreed, {ANN: "negative", CIS: "negative"}),
        (alone, {ANN: "negative"}),
        (split, {ANN: "negative", CIS: "positive"}),
        (own, {ANN: "neutral", BOB: "neutral"}),
    ):
        for viewer, value in answers.items():
            said(database, viewer, sentence, value)
    with database.session() as session:
        for viewer in (ANN, CIS):
            review.answer(session, viewer, chosen, "sentiment", "neutral", names=NAMES, why="unsure")
        found = {one.item: one for one in checks.trusted_labels(session, "sentiment")}
        by_expert = {one.item: one for one in checks.trusted_labels(session, "sentiment", {"cis"})}
    assert {item for item, one in found.items() if one.settled} == {agreed}
    assert {item for item, one in by_expert.items() if one.settled} >= {agreed}
    assert (found[chosen].random, found[agreed].authors, found[agreed].value) == (False, ("ann", "cis"), "negative")
    assert 0 < found[split].weight < found[agreed].weight <= 1


def test_every_label_has_its_turn(database: Database) -> None:
    for _ in range(30):
        add(database, sentiment="neutral", sure=0.5)
    for label_ in ("negative", "positive"):
        for _ in range(4):
            add(database, sentiment=label_, sure=0.9)
    found = [one.predicted for one in waiting(database, ANN, limit=12)]
    assert Counter(found) == {"negative": 4, "neutral": 4, "positive": 4}
    assert Counter(found[:3]) == {"negative": 1, "neutral": 1, "positive": 1}


def test_labels_seldom_looked_at_come_before_the_others(database: Database) -> None:
    for _ in range(3):
        said(database, ANN, add(database, sentiment="neutral"), "neutral")
    add(database, sentiment="neutral", sure=0.4)
    rare = add(database, sentiment="positive", sure=0.99)
    assert waiting(database, ANN)[0].sentence == rare


def test_what_one_has_answered_or_skipped_does_not_come_again(database: Database) -> None:
    first, second, third = (add(database, sure=0.5) for _ in range(3))
    said(database, ANN, first, "neutral")
    with database.session() as session:
        assert [one.sentence for one in review.queue(session, ANN, "sentiment", 20, {second})] == [third]
    assert {one.sentence for one in waiting(database, BOB)} == {first, second, third}
    assert {one.sentence for one in waiting(database, ANN, "intent")} == {first, second, third}


def test_what_no_model_understood_is_not_asked(database: Database) -> None:
    add(database, language="other")
    assert waiting(database, ANN) == []


def test_an_agent_is_asked_about_their_own_calls_only(database: Database) -> None:
    own, other = add(database, agent="owen"), add(database, agent="lena")
    owen = Viewer("owen", "agent")
    assert [one.sentence for one in waiting(database, owen)] == [own]
    with database.session() as session:
        assert review.look(session, owen, other) is None
        with pytest.raises(BadInput, match="there is no sentence"):
            review.answer(session, owen, other, "sentiment", "negative", names=NAMES)


def test_a_sentence_is_seen_in_its_surroundings(database: Database) -> None:
    sample.add(database, 1)
    with database.session() as session:
        call = session.scalars(select(Call).where(col(Call.sentences) > 8)).first()
        assert call is not None
        of_call = select(Sentence).where(col(Sentence.call) == call.id)
        lines = list(session.scalars(of_call.order_by(col(Sentence.start_ms))))
        looked = review.look(session, ANN, lines[4].id)
        assert looked is not None
        assert [one.id for one in (*looked.before, looked.said, *looked.after)] == [one.id for one in lines[2:7]]
        first = review.look(session, ANN, lines[0].id)
        assert first is not None
        assert (first.before, len(first.after)) == ((), 2)


def test_an_answer_keeps_both_words_and_can_be_taken_back(database: Database) -> None:
    sentence = add(database, sentiment="neutral")
    made = said(database, ANN, sentence, "negative")
    with database.session() as session:
        row = session.get(Label, made.label)
        assert row is not None
        assert (row.value, row.predicted, row.author, row.seconds, row.where) == (
            "negative",
            "neutral",
            "ann",
            2.5,
            "review",
        )
        kept = session.get(Sentence, sentence)
        assert kept is not None
        assert kept.sentiment == "neutral"
        assert not review.undo(session, BOB, made.label)
        assert review.undo(session, ANN, made.label)
        assert session.scalar(select(func.count()).select_from(Label)) == 0
        actions = list(session.scalars(select(col(Audit.action)).order_by(col(Audit.id))))
        assert actions == ["label.made", "label.undone"]
        assert not review.undo(session, ANN, made.label)
    assert [one.sentence for one in waiting(database, ANN)] == [sentence]


def test_who_was_away_did_not_think_that_long(database: Database) -> None:
    with database.session() as session:
        made = review.answer(session, ANN, add(database), "sentiment", "neutral", 4000.0, names=NAMES)
        row = session.get(Label, made.label)
        assert row is not None
        assert row.seconds is None


def test_a_label_that_contradicts_an_earlier_one_of_the_same_words_is_pointed_out(database: Database) -> None:
    first, second, third = (add(database, words) for words in ("Okay, fine.", "okay, fine", "OKAY, FINE!"))
    said(database, BOB, first, "negative")
    made = said(database, ANN, second, "neutral")
    assert [(one.author, one.value, one.sentence) for one in made.contradicts] == [("bob", "negative", first)]
    agreed = said(database, ANN, third, "negative")
    assert [(one.author, one.value) for one in agreed.contradicts] == [("ann", "neutral")]
    assert said(database, ANN, add(database, "something else"), "neutral").contradicts == ()


def test_what_others_said_of_the_sentence_is_told_after_the_answer(database: Database) -> None:
    sentence = add(database)
    said(database, BOB, sentence, "negative")
    said(database, BOB, sentence, "positive")
    made = said(database, ANN, sentence, "neutral")
    assert [(one.author, one.value) for one in made.others] == [("bob", "positive")]
    assert made.contradicts == ()


def test_effort(database: Database) -> None:
    with database.session() as session:
        for value, seconds in (("neutral", 1.0), ("negative", 3.0), ("neutral", 8.0)):
            review.answer(session, ANN, add(database), "sentiment", value, seconds, names=NAMES)
        done = review.effort(session, ANN, "sentiment")
        assert (done.labels, done.changed, done.seconds, done.by_predicted) == (3, 1, 3.0, {"neutral": 3})
        assert review.authors(session, BOB, "sentiment") == {"ann": done}
        assert review.authors(session, Viewer("owen", "agent"), "sentiment") == {}


def test_kappa_by_hand() -> None:
    """The example every textbook has: 50 proposals, both yes 20, both no 15."""
    found = agreement.agreement({("y", "y"): 20, ("y", "n"): 5, ("n", "y"): 10, ("n", "n"): 15})
    assert (found.shared, found.agreed) == (50, 0.7)
    assert found.kappa == pytest.approx(0.4)
    assert found.margin == pytest.approx(1.96 * (0.7 * 0.3 / 50) ** 0.5 / 0.5)


@pytest.mark.parametrize(
    ("answers", "kappa"),
    [
        ({}, None),
        ({("a", "a"): 9}, None),
        ({("a", "b"): 5, ("b", "a"): 5}, -1.0),
        ({("a", "a"): 5, ("b", "b"): 5}, 1.0),
    ],
)
def test_kappa_at_its_ends(answers: Mapping[tuple[str, str], int], kappa: float | None) -> None:
    assert agreement.agreement(answers).kappa == kappa


def test_agreement_counts_what_people_say_now(database: Database) -> None:
    sentences = [add(database) for _ in range(4)]
    for number, sentence in enumerate(sentences):
        said(database, ANN, sentence, "negative")
        said(database, ANN, sentence, "neutral" if number else "positive")  # changed one's mind
        said(database, BOB, sentence, "neutral")
    said(database, BOB, sentences[0], "refund", "intent")
    with database.session() as session:
        (pair,) = agreement.pairs(session, ANN)
        assert (pair.kind, pair.one, pair.other) == ("sentiment", "ann", "bob")
        assert pair.answers == {("neutral", "neutral"): 3, ("positive", "neutral"): 1}
        assert agreement.pairs(session, Viewer("owen", "agent")) == []


def test_somebody_who_agrees_with_nobody_is_found(database: Database) -> None:
    values = ("negative", "neutral", "positive")
    with database.begin() as session:
        for number in range(30):
            sentence = add_in(session, number)
            correct(session, ANN, sentence, "sentiment", values[number % 3], names=NAMES)
            correct(session, BOB, sentence, "sentiment", values[number % 3], names=NAMES)
            correct(session, CIS, sentence, "sentiment", values[(number + 1) % 3], names=NAMES)
    with database.session() as session:
        pairs = agreement.pairs(session, ANN)
        (odd,) = agreement.outlying_reviewers(pairs)
        assert (odd.kind, odd.author, odd.own.shared, odd.others.kappa) == ("sentiment", "cis", 30, 1.0)
        assert odd.own.kappa is not None
        assert odd.own.kappa < 0
        two = [pair for pair in pairs if "cis" in (pair.one, pair.other) and "ann" in (pair.one, pair.other)]
        assert agreement.outlying_reviewers(two) == []  # of two who differ, neither is the odd one


def add_in(session: Session, number: int) -> str:
    session.add(Call(id=f"o{number}", state="analysed", roles=["caller", "agent"]))
    session.flush()
    session.add(
        Sentence(id=f"o{number}/0/0", call=f"o{number}", channel=0, role="caller", start_ms=0, end_ms=1, spoken_at=0,
                 text=f"o {number}", sentiment="neutral", intent="x", intent_score=1)
    )  # fmt: skip
    session.flush()
    return f"o{number}/0/0"
