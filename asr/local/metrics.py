"""The speech server's Prometheus metrics."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

STREAMS = Gauge("tenor_riva_streams", "Streams open now.", ["service"])
REFUSED = Counter("tenor_riva_refused", "Streams refused for want of room.", ["service"])
WAITING = Gauge("tenor_riva_waiting", "Utterances that wait for a decoder.")
DECODING = Histogram(
    "tenor_riva_decoding_seconds", "Time a decoder spent on an utterance.", buckets=(0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
)
