"""Who gets the machine: the sequence of the paper step by step, and what holds for any teams and jobs."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from storage.jobs.scheduler import QueuedJob, schedule

CAPACITY = 16_000
QUOTAS = {"a": 4_000, "b": 2_000, "c": 2_000, "d": 8_000}


class Machine:
    """Jobs by the paper's names, on which every plan is carried out."""

    def __init__(self) -> None:
        self.jobs: dict[str, QueuedJob] = {}
        self.paused: list[str] = []
        self.started: list[str] = []
        self._numbers = itertools.count(1)

    def submit(self, name: str, gpus: float, *, interactive: bool = False) -> None:
        self.jobs[name] = QueuedJob(next(self._numbers), name[0], round(gpus * 1000), interactive)
        self.settle()

    def delete(self, *names: str) -> None:
        for name in names:
            del self.jobs[name]
        self.settle()

    def settle(self) -> None:
        names = {job.id: name for name, job in self.jobs.items()}
        plan = schedule(CAPACITY, QUOTAS, self.jobs.values())
        self.started, self.paused = [names[one] for one in plan.start], [names[one] for one in plan.pause]
        self.jobs = {
            name: replace(job, running=(job.running or job.id in plan.start) and job.id not in plan.pause)
            for name, job in self.jobs.items()
        }

    @property
    def allocated(self) -> list[float]:
        return [sum(job.share for job in self.jobs.values() if job.running and job.team == t) / 1000 for t in "abcd"]

    @property
    def queued(self) -> list[str]:
        return sorted(name for name, job in self.jobs.items() if not job.running)


def test_the_sequence_of_the_paper() -> None:
    machine = Machine()
    for name, gpus, interactive in (
        ("a-1-1-jupyter", 1, True), ("a-1-g", 1, False), ("a-2-gg", 2, False),
        ("b-1-g06", 0.6, True), ("b-2-g04", 0.4, True), ("b-3-g", 1, False), ("b-4-gg", 2, False),
        ("c-1-g05", 0.5, True), ("c-2-g03", 0.3, True), ("c-3-g02", 0.2, True),
        ("c-4-gg", 2, False), ("c-5-g", 1, False),
        ("d-1-gggg", 4, False),
    ):  # fmt: skip
        machine.submit(name, gpus, interactive=interactive)
        assert machine.started == [name]
    assert (machine.allocated, machine.queued) == ([4, 4, 4, 4], []), "4.8: 16 of 16, none queued"

    machine.submit("d-2-gg", 2)
    assert (machine.started, machine.paused) == (["d-2-gg"], ["c-4-gg"]), "4.9: the smallest that is enough"
    machine.submit("d-3-gg", 2)
    assert (machine.started, machine.paused) == (["d-3-gg"], ["b-4-gg"])
    assert (machine.allocated, machine.queued) == ([4, 2, 2, 8], ["b-4-gg", "c-4-gg"])

    for name in ("a-3-gg", "a-4-gg", "b-5-gg", "c-6-gg"):
        machine.submit(name, 2)
        assert (machine.started, machine.paused) == ([], []), "4.10: every team has its quota"
    assert machine.queued == ["a-3-gg", "a-4-gg", "b-4-gg", "b-5-gg", "c-4-gg", "c-6-gg"]

    machine.delete("d-1-gggg", "d-2-gg", "d-3-gg")
    assert machine.started == ["b-4-gg", "c-4-gg", "a-3-gg", "a-4-gg"]
    assert (machine.allocated, machine.queued) == ([8, 4, 4, 0], ["b-5-gg", "c-6-gg"])


def job(number: int, team: str, share: int, **fields: object) -> QueuedJob:
    return QueuedJob(number, team, share, **fields)  # type: ignore[arg-type]


def test_a_set_of_jobs_is_paused_where_one_by_one_leads_nowhere() -> None:
    over = [job(1, "x", 3, running=True), job(2, "x", 2, running=True), job(3, "x", 2, running=True)]
    plan = schedule(7, {"x": 3, "y": 4}, [*over, job(4, "y", 4)])
    assert (plan.start, plan.pause) == ((4,), (2, 3)), "the job of 3 alone leaves one too few"


def test_nothing_is_paused_in_vain() -> None:
    plan = schedule(4, {"x": 1, "y": 3}, [job(1, "x", 2, running=True), job(2, "z", 1, running=True), job(3, "y", 3)])
    assert (plan.start, plan.pause) == ((), ()), "x would fall below its quota, and z's job is not enough"


def test_an_interactive_job_neither_goes_over_quota_nor_pauses() -> None:
    plan = schedule(
        8, {"x": 2, "y": 6}, [job(1, "x", 2, running=True, interactive=True), job(2, "x", 1, interactive=True)]
    )
    assert plan.start == ()
    plan = schedule(8, {"x": 0, "y": 8}, [job(1, "x", 8, running=True, interactive=True), job(2, "y", 8)])
    assert plan.pause == (), "not even if its team's quota was taken away"


def test_priorities_order_a_teams_jobs_but_not_the_teams() -> None:
    jobs = [job(1, "x", 1), job(2, "x", 1, priority=3), job(3, "y", 1, priority=0)]
    assert schedule(1, {"x": 1, "y": 1}, jobs).start == (2,)
    running = job(9, "x", 1, running=True)
    assert schedule(2, {"x": 1, "y": 1}, [running, *jobs]).start == (3,), "y has the quota, whatever x calls urgent"


SHARES = st.sampled_from((100, 200, 250, 300, 500, 600, 1000, 1500, 2000, 4000))


@st.composite
def machines(draw: st.DrawFn) -> tuple[int, dict[str, int], list[QueuedJob]]:
    """Any state that submitting, ending and plans may lead to: it begins empty, and goes on by plans."""
    quotas = {team: draw(st.integers(0, 8)) * 500 for team in draw(st.sampled_from(("a", "ab", "abc", "abcd")))}
    capacity = max(sum(quotas.values()), 500) + draw(st.integers(0, 4)) * 500
    jobs: dict[int, QueuedJob] = {}
    for number in range(1, draw(st.integers(1, 14)) + 1):
        team = draw(st.sampled_from(sorted(quotas)))
        jobs[number] = QueuedJob(number, team, draw(SHARES), draw(st.booleans()), draw(st.integers(0, 3)))
        if draw(st.integers(0, 3)) == 0:
            jobs.pop(draw(st.sampled_from(sorted(jobs))))
        jobs = {one.id: one for one in carried_out(capacity, quotas, jobs.values())}
    return capacity, quotas, list(jobs.values())


def carried_out(capacity: int, quotas: dict[str, int], jobs: Iterable[QueuedJob]) -> list[QueuedJob]:
    known = list(jobs)
    plan = schedule(capacity, quotas, known)
    assert not [one for one in known if one.id in plan.pause and (one.interactive or not one.running)]
    return [replace(one, running=(one.running or one.id in plan.start) and one.id not in plan.pause) for one in known]


def allocated(jobs: Iterable[QueuedJob], team: str) -> int:
    return sum(one.share for one in jobs if one.running and one.team == team)


@settings(max_examples=150)
@given(machines())
def test_what_holds_for_any_teams_and_jobs(state: tuple[int, dict[str, int], list[QueuedJob]]) -> None:
    capacity, quotas, jobs = state
    used = sum(one.share for one in jobs if one.running)
    assert used <= capacity
    assert carried_out(capacity, quotas, jobs) == jobs, "what was planned is not planned otherwise a moment later"
    for team, quota in quotas.items():
        interactive = [one for one in jobs if one.team == team and one.running and one.interactive]
        assert sum(one.share for one in interactive) <= quota
    waiting = [one for one in jobs if not one.running and one.share <= capacity]
    entitled = [one for one in waiting if allocated(jobs, one.team) + one.share <= quotas[one.team]]
    for one in entitled:
        assert capacity - used + most_that_may_pause(quotas, jobs) < one.share
    if not entitled:
        assert not [one for one in waiting if not one.interactive and one.share <= capacity - used], "idle for nothing"
    if not used:
        assert not [one for one in waiting if not one.interactive], "something goes on"


def most_that_may_pause(quotas: dict[str, int], jobs: list[QueuedJob]) -> int:
    """By trying every set, which the scheduler does not."""
    most = 0
    for team, quota in quotas.items():
        own = [one.share for one in jobs if one.team == team and one.running and not one.interactive]
        excess = max(allocated(jobs, team) - quota, 0)
        sums = (sum(some) for count in range(len(own) + 1) for some in itertools.combinations(own, count))
        most += max((one for one in sums if one <= excess), default=0)
    return most


@settings(max_examples=100)
@given(machines())
def test_a_plan_pauses_only_what_it_needs_and_brings_no_team_below_its_quota(
    state: tuple[int, dict[str, int], list[QueuedJob]],
) -> None:
    capacity, quotas, jobs = state
    team = next(iter(quotas))
    late = [*jobs, QueuedJob(99, team, 500)]
    plan = schedule(capacity, quotas, late)
    after = carried_out(capacity, quotas, late)
    for one in (one for one in late if one.id in plan.pause):
        assert allocated(after, one.team) >= quotas[one.team]
        assert 99 in plan.start, "only for a job with the quota for it"
