"""What the assistant's stage counts. Exposed by whoever serves the default Prometheus registry."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

TURNS = Counter("tenor_assistant_turns", "Turns published, by what caused them", ["event"])
OPEN_CALLS = Gauge("tenor_assistant_open_calls", "Conversations that are going on")
SECONDS = Histogram(
    "tenor_assistant_turn_seconds",
    "From the publication of a line to that of its turn",
    buckets=(0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1, 2, 5, 10),
)
FAILED_STEPS = Counter("tenor_assistant_failed_steps", "Lines on which the dialog manager failed")
DEAD_LETTERS = Counter("tenor_assistant_dead_letters", "Records that the assistant's stage could not handle")
