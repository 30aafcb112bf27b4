"""What is counted of actions. Exposed by whoever serves the default Prometheus registry."""

from __future__ import annotations

from prometheus_client import Counter, Histogram

ACTIONS = Counter("tenor_assistant_actions", "Actions by what came of them", ["action", "outcome"])
"""`done`, `cached`, `failed`, `refused` (the circuit breaker is open)."""
RETRIES = Counter("tenor_assistant_action_retries", "Attempts after a first that failed", ["action"])
SECONDS = Histogram(
    "tenor_assistant_action_seconds",
    "How long an action took, retries included",
    ["action"],
    buckets=(0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0),
)
