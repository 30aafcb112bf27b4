"""A home in which what callers say has drifted: the sample company's weeks, and since then something new."""

from __future__ import annotations

import time
from random import Random

from sqlalchemy import insert, select
from sqlmodel import col

from storage import sample
from storage.db.engine import Database
from storage.drift.watching import bring_up_to_date
from storage.tables import Call, Gate, Label, Sentence
from tenor.settings import Settings
from tests.storage.drift.calls import DAY_S, FIRST, add_day

NEW_DAYS = 4
"""So long ago a recall began, about which callers are angry."""
LABELLED_DAYS, WRONG = 10, 0.3
"""People have labelled random sentences of these days, and find so many of the model's answers wrong."""
REVIEWERS = ("rita", "sam")


def add_drift(database: Database, settings: Settings) -> None:
    """Data drift in a queue of its own, and concept drift in the labels of the last days."""
    sample.add(database)
    yesterday = int((time.time() - FIRST) // DAY_S) - 1
    with database.begin() as session:
        models = session.scalars(select(col(Sentence.models)).limit(1)).one()
        for number in range(yesterday - NEW_DAYS, yesterday + 1):
            add_day(session, number, queue="recalls", site="Leeds", negative=0.7, calls=30, text="The kettlix sparkt.",
                    intent="complaint", models=models)  # fmt: skip
        accuracy = {"sentiment": {side: {"share": 0.93, "error": 0.01} for side in ("champion", "candidate")}}
        model = models["sentiment"].partition("@")[0]
        session.add(Gate(model=model, against="", passed=True, figures={"accuracy": accuracy}, at=1.0, by="ada"))
    _disagree(database)
    bring_up_to_date(database, settings)


def _disagree(database: Database) -> None:
    random = Random(3)
    since = time.time() - LABELLED_DAYS * DAY_S
    found = select(
        col(Sentence.id), col(Sentence.call), col(Sentence.sentiment), col(Sentence.models), col(Call.started_at)
    )
    found = found.join(Call, col(Call.id) == col(Sentence.call)).where(
        col(Call.started_at) >= since, col(Sentence.role) == "caller"
    )
    with database.begin() as session:
        rows = []
        for one in random.sample(list(session.execute(found.order_by(col(Sentence.id)))), 400):
            wrong = "negative" if one.sentiment == "neutral" else "neutral"
            value = wrong if random.random() < WRONG else one.sentiment
            for author in REVIEWERS:
                label = Label(
                    sentence=one.id, call=one.call, kind="sentiment", value=value, predicted=one.sentiment,
                    author=author, at=one.started_at + 3600, why="sample", model=one.models["sentiment"],
                )  # fmt: skip
                rows.append(label.model_dump(exclude={"id"}))
        session.execute(insert(Label), rows)
