"""Days of calls to find drift in."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random
from typing import Any

from sqlalchemy import insert
from sqlmodel import Session, SQLModel

from storage.tables import Call, Label, Sentence

FIRST = datetime(2026, 3, 2, 9, tzinfo=UTC).timestamp()
DAY_S = 86_400.0
MODEL = "tenor-language-2"
REVIEWERS = ("rita", "sam")


def add_day(
    session: Session,
    number: int,
    *,
    calls: int = 40,
    sentences: int = 6,
    negative: float = 0.1,
    queue: str = "billing",
    site: str = "north",
    model: str = MODEL,
    text: str = "I would like to know where my parcel is.",
    right: float | None = None,
    **fields: Any,
) -> None:
    """A day of calls with a share of negative sentences. `right`: the share of sentences on which two reviewers agree
    with the model; None: nobody looked."""
    random = Random(f"{number} {queue} {negative}")
    rows: dict[type[SQLModel], list[dict[str, Any]]] = {Call: [], Sentence: [], Label: []}
    for call in range(calls):
        name, started = f"{number}-{queue}-{call}", FIRST + number * DAY_S + call
        about: dict[str, Any] = {"id": name, "queue": queue, "site": site, "started_at": started}
        rows[Call].append(Call(**about, state="analysed", sentences=sentences).model_dump())
        for at in range(sentences):
            sentiment = "negative" if random.random() < negative else "neutral"
            row: dict[str, Any] = {
                "id": f"{name}/0/{at}",
                "call": name,
                "channel": 0,
                "role": "caller",
                "start_ms": at,
                "end_ms": at + 1,
                "spoken_at": started + at,
                "text": text,
                "sentiment": sentiment,
                "sentiment_scores": {sentiment: 0.9},
                "intent": "unknown",
                "intent_score": 0.8,
                "models": {"sentiment": model, "intent": model, "speech": "whisper-tiny-1"},
                "confidence": 0.9,
                "novelty": 0.2,
            }
            rows[Sentence].append(Sentence(**{**row, **fields}).model_dump())
            if right is not None and at == 0:
                said = sentiment if random.random() < right else "positive"
                of_sentence: dict[str, Any] = {"sentence": row["id"], "call": name, "kind": "sentiment", "value": said}
                for author in REVIEWERS:
                    label = Label(
                        **of_sentence, predicted=sentiment, author=author, at=started + 100, why="sample", model=model
                    )
                    rows[Label].append(label.model_dump(exclude={"id"}))
    for table, own in rows.items():
        if own:
            session.execute(insert(table), own)


def noon(number: int) -> float:
    """Of that day: those before are over."""
    return FIRST + number * DAY_S + 3 * 3600


def day_name(number: int) -> str:
    return datetime.fromtimestamp(FIRST + number * DAY_S, UTC).strftime("%Y-%m-%d")
