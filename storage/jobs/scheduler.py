"""Which jobs start and which pause: a pure function of teams, jobs and capacity, all in thousandths of a share.

1. A job within its team's quota starts. If there is no room, training jobs of teams over their quota pause for it.
2. What is then spare goes to the team with the lowest allocated/quota, though that puts it over its quota.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

PRIORITIES = {"low": 0, "normal": 1, "high": 2, "urgent": 3}
"""Which of a team's waiting jobs comes first. Between teams only the quotas decide."""


@dataclass(frozen=True, slots=True)
class QueuedJob:
    """A job as the scheduler sees it."""

    id: int
    """In the order in which jobs were submitted."""
    team: str
    share: int
    interactive: bool = False
    """Never paused, never over quota."""
    priority: int = PRIORITIES["normal"]
    running: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do now. Starts are in their order; what pauses makes room for them."""

    start: tuple[int, ...] = ()
    pause: tuple[int, ...] = ()


def schedule(capacity: int, quotas: Mapping[str, int], jobs: Iterable[QueuedJob]) -> Plan:
    """What starts and what pauses. Applied, there is nothing more to do until a job comes or ends."""
    machine = _Machine(capacity, quotas, jobs)
    before = set(machine.running)
    blocked = machine.start_within_quota()
    if not blocked:  # else what is spare is kept for those to whom it belongs
        machine.start_on_spare()
    started = [number for number in machine.running if number not in before]
    return Plan(tuple(started), tuple(sorted(before - set(machine.running))))


class _Machine:
    """Who runs, while a plan is made."""

    def __init__(self, capacity: int, quotas: Mapping[str, int], jobs: Iterable[QueuedJob]) -> None:
        self.capacity, self.quotas = capacity, quotas
        known = sorted(jobs, key=lambda job: job.id)
        self.running = {job.id: job for job in known if job.running}
        self.waiting = {job.id: job for job in known if not job.running and job.share <= capacity}

    @property
    def free(self) -> int:
        return self.capacity - sum(job.share for job in self.running.values())

    def allocated(self, team: str) -> int:
        return sum(job.share for job in self.running.values() if job.team == team)

    def excess(self, team: str) -> int:
        return self.allocated(team) - self.quotas.get(team, 0)

    def usage(self, team: str) -> tuple[bool, Fraction]:
        """Allocated in proportion to the quota. A team without one comes after all others."""
        quota = self.quotas.get(team, 0)
        return quota == 0, Fraction(self.allocated(team), quota or 1)

    def within_quota(self, job: QueuedJob) -> bool:
        return self.excess(job.team) + job.share <= 0

    # -- what starts

    def start_within_quota(self) -> bool:
        """Whether a job had to stay behind that its team has the quota for."""
        behind: set[int] = set()
        while job := self._next(
            job for job in self.waiting.values() if job.id not in behind and self.within_quota(job)
        ):
            victims = self._victims(job.share - self.free)
            if victims is None:
                behind.add(job.id)
                continue
            for victim in victims:
                self.waiting[victim.id] = self.running.pop(victim.id)
            self._start(job)
        return bool(behind)

    def start_on_spare(self) -> None:
        while job := self._next(
            job for job in self.waiting.values() if not job.interactive and job.share <= self.free
        ):  # fmt: skip
            self._start(job)

    def _next(self, jobs: Iterable[QueuedJob]) -> QueuedJob | None:
        return min(jobs, key=lambda job: (self.usage(job.team), -job.priority, job.id), default=None)

    def _start(self, job: QueuedJob) -> None:
        self.running[job.id] = self.waiting.pop(job.id)

    # -- what pauses

    def _victims(self, need: int) -> list[QueuedJob] | None:
        """The jobs to pause for `need`; None: no jobs that may be paused are enough."""
        if need <= 0:
            return []
        chosen: list[QueuedJob] = []
        gained = 0
        while gained < need:
            found = self._victim(need - gained, chosen)
            if found is None:
                break
            chosen.append(found)
            gained += found.share
        if gained < need:  # one by one led nowhere, but some set may still do
            return self._victim_set(need)
        for job in tuple(chosen):
            if gained - job.share >= need:  # a later one made it needless
                chosen.remove(job)
                gained -= job.share
        return chosen

    def _victim(self, need: int, chosen: Sequence[QueuedJob]) -> QueuedJob | None:
        """Of the team most over its quota, the smallest that is enough; if none is, the largest."""
        gone = {job.id for job in chosen}
        given: dict[str, int] = {}
        for job in chosen:
            given[job.team] = given.get(job.team, 0) + job.share
        candidates = [
            job
            for job in self._pausable()
            if job.id not in gone and job.share <= self.excess(job.team) - given.get(job.team, 0)
        ]
        if not candidates:
            return None

        def overuse(team: str) -> tuple[bool, Fraction, int]:
            quota = self.quotas.get(team, 0)
            left = self.allocated(team) - given.get(team, 0)
            youngest = max(job.id for job in candidates if job.team == team)
            return quota == 0, Fraction(left, quota or 1), youngest

        team = max({job.team for job in candidates}, key=overuse)
        own = [job for job in candidates if job.team == team]
        enough = [job for job in own if job.share >= need]
        if enough:
            return min(enough, key=lambda job: (job.share, job.priority, -job.id))
        return max(own, key=lambda job: (job.share, -job.priority, job.id))

    def _victim_set(self, need: int) -> list[QueuedJob] | None:
        """The smallest sum of jobs that is enough; of equal sums, the fewest jobs. No team falls below its quota."""
        sums: dict[int, list[QueuedJob]] = {0: []}
        for team in sorted({job.team for job in self._pausable()}):
            of_team: dict[int, list[QueuedJob]] = {0: []}
            for job in (job for job in self._pausable() if job.team == team):
                for total, chosen in list(of_team.items()):
                    grown = total + job.share
                    if grown <= self.excess(team) and len(chosen) < len(of_team.get(grown, [*chosen, job, job])):
                        of_team[grown] = [*chosen, job]
            for total, chosen in list(sums.items()):
                for own, jobs in of_team.items():
                    joined = [*chosen, *jobs]
                    if total + own not in sums or len(joined) < len(sums[total + own]):
                        sums[total + own] = joined
        enough = [total for total in sums if total >= need]
        return sums[min(enough)] if enough else None

    def _pausable(self) -> Iterator[QueuedJob]:
        """Training jobs whose team keeps its quota without them."""
        for job in self.running.values():
            if not job.interactive and job.share <= self.excess(job.team):
                yield job
