"""A job as Slurm takes it: a script for sbatch, which saves a checkpoint before its time is over and queues again."""

from __future__ import annotations

import re

from storage.jobs.runner import GRACE_S, PAUSED
from storage.tables import Job
from tenor.errors import BadInput
from tenor.settings import Settings

OPTION = re.compile(r"[a-z][a-z-]*(=[\w.,:%@/+-]+)?")

SCRIPT = """#!/bin/bash
{options}

# The first attempt begins a run, a later one goes on from its checkpoint.
trap 'kill -TERM "$!"' TERM
{command} &
attempt=$!
wait "$attempt"
code=$?
# A wait that SIGTERM broke off tells nothing of the attempt, which is still saving.
while kill -0 "$attempt" 2>/dev/null; do
    wait "$attempt"
    code=$?
done
if [ "$code" -eq {paused} ]; then
    scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
"""


def text(job: Job, settings: Settings, command: str) -> str:
    """The script; `command` is what runs the job, as a shell reads it."""
    share = max(1, -(-job.share // 1000))
    options = [
        f"job-name=tenor-job-{job.id}",
        f"cpus-per-task={share}",
        *([f"gres=gpu:{settings.jobs.gpus}"] if settings.jobs.gpus else []),
        f"account={settings.jobs.cluster_queue or job.team}",
        f"signal=B:TERM@{int(GRACE_S)}",
        "requeue",
        "open-mode=append",
        f"output=tenor-job-{job.id}.log",
        *settings.jobs.slurm_options,
    ]
    for option in options:
        if not OPTION.fullmatch(option):
            raise BadInput(f"jobs.slurm_options: {option!r} is no option of sbatch", "e.g. partition=long")
    lines = "\n".join(f"#SBATCH --{option}" for option in options)
    return SCRIPT.format(options=lines, command=command, paused=PAUSED)
