"""Who labels: how much, how fast, how far the others agree, and whether their labels count."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from statistics import median

import msgspec
from sqlalchemy import select
from sqlmodel import Session

from storage.labels.trust.agreement import KINDS, LABEL, agreement, current_answers, pairs_of
from storage.labels.trust.checks import control_results
from storage.labels.trust.holds import holds
from storage.viewer import HOUSE


class AuthorReport(msgspec.Struct, frozen=True, kw_only=True):
    """One person and one kind of labels."""

    author: str
    kind: str
    labels: int
    changed: float
    """Share on which they did not say what the model had said."""
    seconds: float | None
    """Median per label."""
    kappa: float | None
    """With everybody with whom they share sentences, and half of its 95 % interval."""
    kappa_margin: float
    shared: int
    controls: int
    controls_right: int
    why: dict[str, int]
    """How many by why they were asked."""
    held: str
    """Why their labels are held; empty: they are not."""


def author_report(session: Session, experts: Collection[str] = ()) -> list[AuthorReport]:
    """Everybody, by name and kind."""
    held = {one.author: one.reason or "held" for one in holds(session)}
    found = []
    for kind in (*KINDS, "slots"):
        rows = session.execute(
            select(LABEL.c.author, LABEL.c.value, LABEL.c.predicted, LABEL.c.seconds, LABEL.c.why).where(
                LABEL.c.kind == kind
            )
        ).all()
        by_author = defaultdict(list)
        for row in rows:
            by_author[row.author].append(row)
        pairs = pairs_of(kind, current_answers(session, HOUSE, kind)) if kind in KINDS else []
        controls = control_results(session, kind, experts) if kind in KINDS else {}
        for author, own in by_author.items():
            theirs = [pair for pair in pairs if author in (pair.one, pair.other)]
            answers: Counter[tuple[str, str]] = Counter()
            for pair in theirs:
                answers.update(pair.answers)
            shared = {sentence for pair in theirs for sentence in pair.sentences}
            together = agreement(answers, len(shared))
            times = [row.seconds for row in own if row.seconds is not None]
            right, asked = controls.get(author, (0, 0))
            report = AuthorReport(
                author=author,
                kind=kind,
                labels=len(own),
                changed=sum(row.value != row.predicted for row in own) / len(own),
                seconds=median(times) if times else None,
                kappa=together.kappa,
                kappa_margin=together.margin,
                shared=together.shared,
                controls=asked,
                controls_right=right,
                why=dict(Counter(row.why or "unknown" for row in own)),
                held=held.get(author, ""),
            )
            found.append(report)
    return sorted(found, key=lambda one: (one.author, one.kind))
