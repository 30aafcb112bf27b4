"""Sentences that need a person first, and what people said of them.

at random    every fourth: a quarter of all sentences is kept for this, the same for everybody and in the same order, so
             that two people look at each. They come for no other reason: models are measured with them
control      every twentieth: two people agree on it already
chosen       the rest, in turn over the labels (if only what is frequent were looked at, everyone would look at neutral
             sentences all day) and over the reasons: disputed, unsure, doubted, novel, second opinions,
             and whatever else there is of labels seldom looked at
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

from sqlalchemy import ColumnElement, Float, and_, case, cast, func, select
from sqlmodel import Session

from storage.labels.effective import CorrectedSentence, said
from storage.labels.labels import correct, withdraw
from storage.labels.trust import checks, reliability
from storage.labels.why import Why
from storage.tables import Call, Label, Sentence
from storage.viewer import Viewer
from tenor.taxonomy.in_force import NamesInForce

CALL = Call.__table__  # type: ignore[attr-defined]
SENTENCE = Sentence.__table__  # type: ignore[attr-defined]
LABEL = Label.__table__  # type: ignore[attr-defined]
Kind = Literal["sentiment", "intent"]
CHOSEN: tuple[Why, ...] = ("disputed", "unsure", "doubted", "unsure", "novel", "second", "rare")
"""The order in which each label's turn goes through the reasons."""
RANDOM_EVERY, CONTROL_EVERY = 4, 20
RESERVED = 1 / RANDOM_EVERY
"""Share of all sentences that are only ever shown as drawn at random."""
NOVEL = 0.35
"""Novelty from which a sentence is unlike anything: what the model knows has less than 0.2, other subjects 0.45 and
more."""
POOL = 3_000
"""Newest sentences that are chosen from: what is said now matters most, and the choice stays quick."""
UNSURE = 0.7
"""Probability of the model's answer below which it is unsure."""
LONGEST = 1_000
"""Seconds; who looked longer was away."""


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """A sentence that waits for a person, and why this one."""

    sentence: str
    predicted: str
    why: Why


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a person said of a sentence, or of one with the same words."""

    author: str
    value: str
    at: float
    sentence: str


@dataclass(frozen=True, slots=True)
class SentenceInContext:
    """A sentence with all that helps to judge it."""

    sentence: Sentence
    """As the models understood it,"""
    said: CorrectedSentence
    """and as people left it."""
    call: Call
    before: tuple[CorrectedSentence, ...]
    after: tuple[CorrectedSentence, ...]


@dataclass(frozen=True, slots=True)
class ReviewedLabel:
    """A label that was made."""

    label: int
    others: tuple[Opinion, ...]
    """What others said of the same sentence."""
    contradicts: tuple[Opinion, ...]
    """Earlier labels of the same words that say something else."""


@dataclass(frozen=True, slots=True)
class Effort:
    """What one person has done."""

    labels: int
    changed: int
    """How often they did not share the model's view."""
    seconds: float | None
    """Median time a label."""
    by_predicted: dict[str, int]


def queue(
    session: Session,
    viewer: Viewer,
    kind: Kind,
    limit: int = 20,
    skipped: Collection[str] = (),
    experts: Collection[str] = (),
) -> list[ReviewItem]:
    """What this person should look at next. `experts`: whose word alone makes a control sentence."""
    waiting: dict[str, dict[Why, deque[str]]] = defaultdict(lambda: defaultdict(deque))
    at_random: list[ReviewItem] = []
    controls: list[ReviewItem] = []
    seen = set(skipped)
    for sentence, predicted, why in _candidates(session, viewer, kind, experts):
        if sentence in seen:
            continue
        seen.add(sentence)
        if why == "control":
            controls.append(ReviewItem(sentence, predicted, why))
        elif is_reserved(sentence):
            at_random.append(ReviewItem(sentence, predicted, "sample"))
        else:
            waiting[predicted][why].append(sentence)
    at_random.sort(key=lambda item: place_of(item.sentence))
    controls.sort(key=lambda item: place_of(f"{viewer.name}/{item.sentence}"))
    done = Counter(effort(session, viewer, kind).by_predicted)
    names = sorted(waiting, key=lambda name: (done[name], name))
    return mixed(at_random, controls, _in_turn(names, waiting), limit)


def mixed(
    at_random: Iterable[ReviewItem], controls: Iterable[ReviewItem], chosen: Iterable[ReviewItem], limit: int
) -> list[ReviewItem]:
    """Every fourth at random, every twentieth a control; where one kind has run out, the others go on."""
    found: list[ReviewItem] = []
    sources = {"random": iter(at_random), "control": iter(controls), "chosen": iter(chosen)}
    for number in range(1, limit + 1):
        due = "random" if number % RANDOM_EVERY == 0 else "control" if number % CONTROL_EVERY == 10 else "chosen"
        rest = (name for name in ("chosen", "random") if name != due)
        item = next((item for name in (due, *rest) for item in [next(sources[name], None)] if item), None)
        if item is None:
            break
        found.append(item)
    return found


def place_of(name: str) -> float:
    """A place from 0 to 1 by the name alone: the same for everybody, and chance as far as anything else goes."""
    return int.from_bytes(hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()[:7]) / 2**56


def is_reserved(item: str) -> bool:
    """Whether a sentence or turn is shown only as drawn at random."""
    return place_of(item) < RESERVED


def look(session: Session, viewer: Viewer, sentence: str) -> SentenceInContext | None:
    """The sentence in its surroundings; None when it is gone, or not the viewer's to see."""
    row = session.execute(
        select(Sentence, Call)
        .join(Call, CALL.c.id == SENTENCE.c.call)
        .where(viewer.clause(), SENTENCE.c.id == sentence)
    ).first()
    if row is None:
        return None
    found, call = row
    near = said().where(SENTENCE.c.call == found.call, SENTENCE.c.id != found.id).limit(2)
    before = near.where(SENTENCE.c.start_ms <= found.start_ms).order_by(SENTENCE.c.start_ms.desc())
    after = near.where(SENTENCE.c.start_ms > found.start_ms).order_by(SENTENCE.c.start_ms)
    return SentenceInContext(
        found,
        CorrectedSentence(*session.execute(said().where(SENTENCE.c.id == found.id)).one()),
        call,
        tuple(CorrectedSentence(*row) for row in reversed(session.execute(before).all())),
        tuple(CorrectedSentence(*row) for row in session.execute(after)),
    )


def answer(
    session: Session,
    viewer: Viewer,
    sentence: str,
    kind: Kind,
    value: str,
    seconds: float | None = None,
    *,
    names: NamesInForce,
    why: Why = "sample",
    experts: Collection[str] = (),
) -> ReviewedLabel:
    """Keep what this person says. The models' answer stays as it is. Commits."""
    how: Any = {"names": names, "seconds": time_taken(seconds), "where": "review", "why": why}
    made = correct(session, viewer, sentence, kind, value, **how)
    checks.watch(session, viewer.name, kind, experts)
    text = session.execute(select(SENTENCE.c.text).where(SENTENCE.c.id == sentence)).scalar_one()
    opinions = same_words(session, viewer, text, kind)
    session.commit()
    assert made.id is not None
    return ReviewedLabel(
        made.id,
        tuple(said for said in opinions if said.sentence == sentence and said.author != viewer.name),
        tuple(said for said in opinions if said.sentence != sentence and said.value != made.value),
    )


def time_taken(seconds: float | None) -> float | None:
    return None if seconds is None or seconds > LONGEST else round(seconds, 1)


def undo(session: Session, viewer: Viewer, made: int) -> bool:
    """Take back a label of one's own; whether there was one. Commits."""
    taken = withdraw(session, viewer, made)
    session.commit()
    return taken is not None


def same_words(session: Session, viewer: Viewer, text: str, kind: Kind, limit: int = 20) -> list[Opinion]:
    """What people say of sentences with these words, newest first; case and end marks do not matter."""
    columns = (LABEL.c.author, LABEL.c.value, LABEL.c.at, LABEL.c.sentence)
    found = select(*columns).join(SENTENCE, SENTENCE.c.id == LABEL.c.sentence).join(CALL, CALL.c.id == LABEL.c.call)
    found = found.where(viewer.clause(), LABEL.c.kind == kind, _plain(SENTENCE.c.text) == _plain(text))
    newest: dict[tuple[str, str], Opinion] = {}
    for row in session.execute(found.order_by(LABEL.c.at.desc(), LABEL.c.id.desc()).limit(limit)):
        newest.setdefault((row.author, row.sentence), Opinion(row.author, row.value, row.at, row.sentence))
    return list(newest.values())


def effort(session: Session, viewer: Viewer, kind: Kind, since: float = 0.0) -> Effort:
    """What the viewer has done themselves."""
    own = and_(_of_sentences(kind), LABEL.c.author == viewer.name, LABEL.c.at >= since)
    changed = func.sum(case((LABEL.c.value != LABEL.c.predicted, 1), else_=0))
    rows = session.execute(
        select(LABEL.c.predicted, func.count(), changed).where(own).group_by(LABEL.c.predicted)
    ).all()
    times = select(LABEL.c.seconds).where(own, LABEL.c.seconds.is_not(None)).order_by(LABEL.c.at.desc()).limit(500)
    seconds = list(session.scalars(times))
    return Effort(
        labels=sum(row[1] for row in rows),
        changed=sum(row[2] for row in rows),
        seconds=median(seconds) if seconds else None,
        by_predicted={row[0]: row[1] for row in rows},
    )


def authors(session: Session, viewer: Viewer, kind: Kind) -> dict[str, Effort]:
    """What everyone has done, the busiest first."""
    found = select(LABEL.c.author).where(_of_sentences(kind)).group_by(LABEL.c.author)
    if not viewer.sees_all:
        found = found.where(LABEL.c.author == viewer.name)
    names = session.scalars(found.order_by(func.count().desc()).limit(50)).all()
    return {name: effort(session, Viewer(name, viewer.role), kind) for name in names}


def made_up(session: Session, kind: Kind) -> bool:
    """Whether any of the labels belong to the sample data."""
    return session.scalars(select(LABEL.c.id).where(LABEL.c.kind == kind, LABEL.c.sample).limit(1)).first() is not None


def _candidates(
    session: Session, viewer: Viewer, kind: Kind, experts: Collection[str]
) -> Iterator[tuple[str, str, Why]]:
    """Sentences without a label by this person, and the first reason each has to be looked at."""
    yield from _labelled_by_others(session, viewer, kind, experts)
    sure = _confidence(session, kind)
    pool = select(SENTENCE.c.id, SENTENCE.c[kind].label("predicted"), sure.label("sure"), SENTENCE.c.novelty)
    pool = pool.join(CALL, CALL.c.id == SENTENCE.c.call).where(viewer.clause(), SENTENCE.c.language != "other")
    pool = pool.where(~_labelled(viewer, kind, SENTENCE.c.id)).order_by(SENTENCE.c.spoken_at.desc()).limit(POOL)
    rows = session.execute(pool).all()
    for row in sorted(rows, key=lambda row: (row.sure or 0.0, row.id)):
        if (row.sure or 0.0) < UNSURE:
            yield row.id, row.predicted, "unsure"
    for row in sorted(rows, key=lambda row: (-(row.novelty or 0.0), row.id)):
        if (row.novelty or 0.0) > NOVEL:
            yield row.id, row.predicted, "novel"
    for row in sorted(rows, key=lambda row: place_of(row.id)):
        yield row.id, row.predicted, "rare"


def _labelled_by_others(
    session: Session, viewer: Viewer, kind: Kind, experts: Collection[str]
) -> Iterator[tuple[str, str, Why]]:
    columns = (LABEL.c.sentence, LABEL.c.author, LABEL.c.value, SENTENCE.c[kind].label("predicted"))
    other = select(*columns, SENTENCE.c.sentiment_scores, SENTENCE.c.intent_score)
    other = other.join(SENTENCE, SENTENCE.c.id == LABEL.c.sentence).join(CALL, CALL.c.id == LABEL.c.call)
    other = other.where(
        viewer.clause(), LABEL.c.kind == kind, ~LABEL.c.held, ~_labelled(viewer, kind, LABEL.c.sentence)
    )
    rows = session.execute(other.order_by(LABEL.c.at.desc(), LABEL.c.id.desc()).limit(POOL)).all()
    scores = [row.sentiment_scores if kind == "sentiment" else {row.predicted: row.intent_score} for row in rows]
    in_doubt = {
        row.sentence
        for row, doubt in zip(rows, reliability.doubted([row.value for row in rows], scores), strict=True)
        if doubt
    }
    said: dict[str, dict[str, str]] = defaultdict(dict)
    predicted: dict[str, str] = {}
    for row in rows:
        said[row.sentence].setdefault(row.author, row.value)
        predicted[row.sentence] = row.predicted
    for sentence, answers in said.items():
        model, values = predicted[sentence], set(answers.values())
        if reliability.known_answer(answers, viewer.name, experts) is not None:
            yield sentence, model, "control"
        elif sentence in in_doubt and len(values) == 1:
            yield sentence, model, "doubted"
        else:
            yield sentence, model, "second" if values == {model} else "disputed"


def _in_turn(names: list[str], waiting: dict[str, dict[Why, deque[str]]]) -> Iterator[ReviewItem]:
    turns = dict.fromkeys(names, 0)
    while turns:
        for name in list(turns):
            picked = _next(waiting[name], turns[name])
            if picked is None:
                del turns[name]
                continue
            turns[name] += 1
            yield ReviewItem(picked[0], name, picked[1])


def _next(reasons: dict[Why, deque[str]], turn: int) -> tuple[str, Why] | None:
    for step in range(len(CHOSEN)):
        why = CHOSEN[(turn + step) % len(CHOSEN)]
        if reasons[why]:
            return reasons[why].popleft(), why
    return None


def _of_sentences(kind: Kind) -> ColumnElement[bool]:
    return and_(LABEL.c.kind == kind, LABEL.c.sentence.is_not(None))


def _labelled(viewer: Viewer, kind: Kind, sentence: ColumnElement[str]) -> ColumnElement[bool]:
    own = LABEL.alias("own")
    mine = select(own.c.id).where(own.c.sentence == sentence, own.c.author == viewer.name, own.c.kind == kind)
    return mine.exists()


def _confidence(session: Session, kind: Kind) -> ColumnElement[Any]:
    """The probability of the model's answer."""
    if kind == "intent":
        return SENTENCE.c.intent_score  # type: ignore[no-any-return]
    scores, said = SENTENCE.c.sentiment_scores, SENTENCE.c.sentiment
    if session.get_bind().dialect.name == "postgresql":
        return cast(scores.op("->>")(said), Float)
    return cast(func.json_extract(scores, '$."' + said + '"'), Float)


def _plain(text: Any) -> ColumnElement[str]:
    return func.lower(func.trim(text, " .,!?"))
