"""What the Operations page is told, against the rows it is told from."""

from __future__ import annotations

import time

import numpy as np
import pytest
from sqlalchemy import select

from storage import sample
from storage.db.engine import Database
from storage.queries import operations
from storage.tables import Call, DeadLetter, Sentence
from storage.viewer import HOUSE, Viewer

SINCE = time.time() - 5 * 86_400


def test_figures_are_those_of_the_rows(database: Database) -> None:
    sample.add(database, 1)
    with database.session() as session:
        sentences = [one for one in session.scalars(select(Sentence)) if one.spoken_at >= SINCE]
        calls = [one for one in session.scalars(select(Call)) if one.started_at >= SINCE]
        found = operations.latency(session, HOUSE, SINCE)
        spoken = sorted((one for one in sentences if one.latency_ms is not None), key=lambda one: one.spoken_at)[-2000:]
        totals = [one.latency_ms or 0.0 for one in spoken]
        assert found.total is not None
        assert found.sentences == len(spoken)
        assert found.total.p95 == pytest.approx(np.percentile(totals, 95))
        heard = [(one.times["recognised"] - one.times["ended"]) * 1000 for one in spoken]
        stage = next(wait for wait in found.stages if wait.stage == "Recognising")
        assert [stage.p50, stage.p99] == pytest.approx([np.percentile(heard, 50), np.percentile(heard, 99)])
        flow = operations.throughput(session, HOUSE, SINCE, 3600)
        assert sum(n for _, n in flow) == len(sentences)
        assert dict(flow) == {at: sum(at <= one.spoken_at < at + 3600 for one in sentences) for at, _ in flow}
        states = operations.states(session, HOUSE, SINCE)
        assert states == {state: sum(c.state == state for c in calls) for state in {c.state for c in calls}}
        failed = operations.failed(session, HOUSE, SINCE)
        assert {one.id for one in failed} == {one.id for one in calls if one.state == "failed"}
        assert all(one.reason for one in failed)
        dead = [one for one in session.scalars(select(DeadLetter)) if one.at >= SINCE]
        assert {one.id for one in operations.dead_letters(session, HOUSE, SINCE)} == {one.id for one in dead}
        assert sum(cause.times for cause in operations.causes(session, HOUSE, SINCE)) == len(dead)
        own = Viewer("owen.price", "agent")
        assert {one.agent for one in operations.failed(session, own, SINCE)} <= {"owen.price"}
        assert not operations.dead_letters(session, own, SINCE)
        assert not operations.causes(session, own, SINCE)
        assert sum(n for _, n in operations.throughput(session, own, SINCE, 3600)) < len(sentences)


def test_nothing_yet(database: Database) -> None:
    with database.session() as session:
        found = operations.latency(session, HOUSE, 0)
        assert (found.sentences, found.total, found.stages, found.over_time) == (0, None, (), ())
        assert operations.throughput(session, HOUSE, 0, 60) == []
        assert operations.states(session, HOUSE, 0) == {}


@pytest.mark.parametrize("share", [0, 50, 95, 100])
def test_percentiles(share: int) -> None:
    values = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0]
    assert operations.percentile(values, share) == pytest.approx(np.percentile(values, share))
