"""Teams and jobs as people handle them, and what is refused."""

from __future__ import annotations

import pytest

from storage.db.engine import Database
from storage.jobs import queue, teams
from storage.jobs.lease import RunnerLease
from storage.jobs.queue import Submission
from storage.tables import Job
from storage.viewer import Viewer
from tenor.errors import BadInput, Refused
from tenor.settings import JobsSettings, Settings

ANN, MAX = Viewer("ann", "analyst"), Viewer("max", "manager")
SETTINGS = Settings(jobs=JobsSettings(capacity=4))
TRAINING = ("finetune", "house@1")


def submit(database: Database, words: tuple[str, ...] = TRAINING, **fields: object) -> int:
    return queue.submit(database, ANN, SETTINGS, Submission(words, **fields))  # type: ignore[arg-type]


def test_what_could_never_start_is_refused(database: Database) -> None:
    teams.add(database, ANN, "north", 1)
    teams.add(database, ANN, "south", 3)
    for fields, told in (
        ({}, "which team"),
        ({"team": "nort"}, "did you mean 'north'"),
        ({"team": "north", "share": 5}, "no machine has 5 shares"),
        ({"team": "north", "share": 0}, "needs a share"),
        ({"team": "north", "share": float("nan")}, "no share"),
        ({"team": "north", "share": -1}, "no share"),
        ({"team": "north", "priority": "hihg"}, "did you mean 'high'"),
        ({"team": "north", "share": 2, "interactive": True}, "quota of 1"),
        ({"team": "north", "minutes": 5}, "only interactive jobs"),
        ({"team": "north", "words": ("erase", "call")}, "cannot be paused"),
        ({"team": "north", "words": ()}, "what is to be run"),
    ):
        with pytest.raises(BadInput, match=told):
            submit(database, **fields)
    with pytest.raises(Refused, match="manager"):
        queue.submit(database, MAX, SETTINGS, Submission(TRAINING, "north"))
    with database.session() as session:
        assert queue.listing(session, every=True) == []


def test_a_waiting_job_is_stopped_once(database: Database) -> None:
    number = submit(database)
    assert "will not start" in queue.stop(database, ANN, number)
    with pytest.raises(BadInput, match="stopped: there is nothing"):
        queue.stop(database, ANN, number)
    with pytest.raises(BadInput, match="no job 99"):
        queue.stop(database, ANN, 99)
    with database.session() as session:
        assert queue.listing(session) == []
        assert [one.id for one in queue.listing(session, every=True)] == [number]


def test_teams_are_made_changed_and_removed(database: Database) -> None:
    teams.add(database, ANN, "north", 1.5)
    with pytest.raises(BadInput, match="already"):
        teams.add(database, ANN, "north", 1)
    for name in ("North", "", "a_b", "-a", "a" * 64):
        with pytest.raises(BadInput, match="no name of a team"):
            teams.add(database, ANN, name, 1)
    teams.set_quota(database, ANN, "north", 0.25)
    with database.session() as session:
        assert teams.quotas(session) == {"north": 250}
    number = submit(database)
    with pytest.raises(BadInput, match="1 job that"):
        teams.remove(database, ANN, "north")
    queue.stop(database, ANN, number)
    teams.remove(database, ANN, "north")
    with pytest.raises(BadInput, match="no team"):
        teams.set_quota(database, ANN, "north", 1)
    with pytest.raises(Refused):
        teams.add(database, MAX, "south", 1)
    with database.session() as session:
        assert queue.find(session, number).team == "north", "what was done keeps its name"


def test_what_a_team_had_over_time_follows_from_the_events(database: Database) -> None:
    teams.add(database, ANN, "north", 2)
    first, second = submit(database), submit(database, share=0.5)
    with database.begin() as session:
        for number, state, at in ((first, "running", 100.0), (second, "running", 110.0), (first, "paused", 120.0)):
            job = queue.find(session, number)
            job.state = state
            queue.note(session, job, at)
    with database.session() as session:
        [whole] = teams.overview(session, 50.0, 130.0)
        [part] = teams.overview(session, 115.0, 130.0)
    assert whole.over_time[:4] == ((50.0, 0), (100.0, 1000), (110.0, 1500), (120.0, 500))
    assert part.over_time[:2] == ((115.0, 1500), (120.0, 500)), "what ran before is known"


def test_whether_a_job_would_start_at_once(database: Database) -> None:
    teams.add(database, ANN, "north", 1)
    teams.add(database, ANN, "south", 3)
    wanted = Submission(TRAINING, "north", 2)
    with database.session() as session:
        assert not queue.would_start(session, SETTINGS, wanted), "nobody runs jobs"
    RunnerLease(database, "here", 4000).renew()
    with database.session() as session:
        assert queue.would_start(session, SETTINGS, wanted)
    number = submit(database, team="south", share=3)
    with database.begin() as session:
        session.get(Job, number).state, session.get(Job, number).host = "running", "here"  # type: ignore[union-attr]
    with database.session() as session:
        assert not queue.would_start(session, SETTINGS, wanted)
        assert queue.would_start(session, SETTINGS, Submission(TRAINING, "north", 1))
