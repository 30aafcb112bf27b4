"""What storage counts. Exposed by whoever serves the default Prometheus registry."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

EVENTS = Counter("tenor_storage_events", "Events written to the database", ["topic"])
SKIPPED = Counter("tenor_storage_skipped_events", "Events of calls that were erased, left out")
RETRIES = Counter("tenor_storage_retries", "Times work had to wait for the database, or for the place of recordings")
DEAD_LETTERS = Counter("tenor_storage_dead_letters", "Records that could not be read or stored")
RECORDINGS = Counter("tenor_storage_recordings", "Recordings written")
BATCH_SECONDS = Histogram(
    "tenor_storage_batch_seconds",
    "How long a batch took to be in the database",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0),
)
DELAY_SECONDS = Histogram(
    "tenor_storage_delay_seconds",
    "From a sentence's publication to its row",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 60.0, 3600.0),
)
CACHE_BYTES = Gauge("tenor_learn_cache_bytes", "What the cache of datasets holds")
CACHE_FREE_BYTES = Gauge("tenor_learn_cache_free_bytes", "What is free beside it")
DRIFT_ALARMS = Gauge("tenor_drift_alarms", "Figures that have drifted, on the last day that is over")
JOBS = Gauge("tenor_jobs", "Jobs of the queue that are not over, by team and by whether they run", ["team", "state"])
TEAM_SHARES = Gauge("tenor_team_shares", "Shares of the machines that a team has, and its quota", ["team", "of"])
RUN_POINT = Gauge("tenor_run_point", "Newest point of each curve of the trainings that go on", ["run", "curve"])
RUN_SECONDS = Gauge("tenor_run_seconds", "How long the trainings that go on have taken", ["run"])
