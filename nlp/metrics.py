"""What the language stage counts. Exposed by whoever serves the default Prometheus registry."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

SENTENCES = Counter("tenor_language_sentences", "Sentences published, revisions included")
REVISIONS = Counter("tenor_language_revisions", "Sentences told again because they went on")
ALERTS = Counter("tenor_language_alerts", "Alerts published", ["severity"])
CALLS_ANALYSED = Counter("tenor_language_calls_analysed", "Calls understood to their end")
DEAD_LETTERS = Counter("tenor_language_dead_letters", "Records that could not be read or understood")
CLASSIFIER_ERRORS = Counter(
    "tenor_language_classifier_errors", "Batches a plug-in classifier failed on", ["classifier"]
)
OPEN_CALLS = Gauge("tenor_language_open_calls", "Calls being understood")
BATCH = Histogram(
    "tenor_language_batch_sentences", "Sentences understood at once", buckets=(1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
)
LATENCY = Histogram(
    "tenor_language_latency_seconds",
    "How long until a sentence is published",
    ["part"],
    buckets=(0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.75, 1.0, 1.5, 2.5, 5.0, 10.0, 30.0),
)
"""`understood`: from its transcript's publication to the models' answer; `told`: to the publication of the sentence;
`spoken`: from its last word to there."""
