"""A job as Kubernetes takes it: a manifest with the label of a queue, for Kueue or the KAI scheduler.

The pod runs `tenor jobs attempt`, which begins the job's run or goes on with it. So a pod that is evicted, with
SIGTERM and time for a checkpoint, is followed by one that resumes. Database and archive are reached by URL.
"""

from __future__ import annotations

import json
from typing import Any

from storage.jobs.runner import GRACE_S, MOST_DEATHS, PAUSED
from storage.tables import Job
from tenor.errors import BadInput
from tenor.settings import Settings

QUEUE_LABELS = {"kueue": "kueue.x-k8s.io/queue-name", "kai": "kai.scheduler/queue"}
"""Under which each scheduler looks for the name of the queue."""
KAI_NAME = "kai-scheduler"
"""Kueue leaves pods to the scheduler of the cluster; KAI is one itself."""
SHARED = "/data"
"""Where the volume is in every pod."""
HOPELESS = 2
"""The exit code for what was given wrongly: trying again would not help."""


def name_of(job: Job) -> str:
    return f"tenor-job-{job.id}"


def manifest(job: Job, settings: Settings) -> dict[str, Any]:
    """The Job of `batch/v1`."""
    if settings.storage_url.startswith("sqlite"):
        raise BadInput(
            "pods cannot reach a database that is a file on this machine", "name a PostgreSQL server with storage.url"
        )
    options = settings.jobs
    label = {QUEUE_LABELS[options.scheduler]: options.cluster_queue or job.team}
    kai = options.scheduler == "kai"
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name_of(job), "namespace": options.namespace, "labels": label},
        "spec": {
            "backoffLimit": MOST_DEATHS,
            # Kueue lets a suspended job go when it is its turn.
            "suspend": not kai,
            "podFailurePolicy": {
                "rules": [
                    {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [HOPELESS]}},
                    {"action": "Ignore", "onExitCodes": {"operator": "In", "values": [PAUSED]}},
                    {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
                ]
            },
            "template": {"metadata": {"labels": label}, "spec": _pod(job, settings, kai)},
        },
    }


def text(job: Job, settings: Settings) -> str:
    """The manifest as a file for kubectl, which reads JSON as it reads YAML."""
    return json.dumps(manifest(job, settings), indent=2) + "\n"


def _pod(job: Job, settings: Settings, kai: bool) -> dict[str, Any]:
    resources = {"cpu": f"{job.share}m", "memory": settings.jobs.memory}
    if settings.jobs.gpus:
        resources["nvidia.com/gpu"] = str(settings.jobs.gpus)
    container = {
        "name": "tenor",
        "image": settings.jobs.image,
        "command": ["tenor", "jobs", "attempt", str(job.id)],
        "env": [
            {"name": "TENOR_HOME", "value": f"{SHARED}/home"},
            {"name": "TENOR_LEARN__URL", "value": f"{SHARED}/learn"},
            # The address has a password: it comes from a secret that is made once.
            {
                "name": "TENOR_STORAGE__URL",
                "valueFrom": {"secretKeyRef": {"name": "tenor", "key": "storage-url"}},
            },
        ],
        "resources": {"requests": resources, "limits": resources},
        "volumeMounts": [{"name": "shared", "mountPath": SHARED}],
    }
    return {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": int(GRACE_S),
        **({"schedulerName": KAI_NAME} if kai else {}),
        "containers": [container],
        "volumes": [{"name": "shared", "persistentVolumeClaim": {"claimName": settings.jobs.volume}}],
    }
