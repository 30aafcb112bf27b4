"""The queue and the trainings that go on, for Prometheus."""

from __future__ import annotations

import time

from sqlmodel import Session

from storage import metrics
from storage.jobs import teams
from storage.runs import runs


def show(session: Session) -> None:
    """As they are now; what is over is not shown any more."""
    for gauge in (metrics.JOBS, metrics.TEAM_SHARES, metrics.RUN_POINT, metrics.RUN_SECONDS):
        gauge.clear()
    for team in teams.overview(session, time.time()):
        metrics.JOBS.labels(team.name, "running").set(team.running)
        metrics.JOBS.labels(team.name, "waiting").set(team.waiting)
        metrics.TEAM_SHARES.labels(team.name, "quota").set(team.quota / teams.WHOLE)
        metrics.TEAM_SHARES.labels(team.name, "allocated").set(team.allocated / teams.WHOLE)
    for view in runs.listing(session):
        if view.state == "running":
            metrics.RUN_SECONDS.labels(view.id).set(view.seconds)
            for curve, value in view.last.items():
                metrics.RUN_POINT.labels(view.id, curve).set(value)
