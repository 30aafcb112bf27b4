"""What the worker counts. Exposed by whoever serves the default Prometheus registry."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

AUDIO_SECONDS = Counter("tenor_asr_audio_seconds", "Audio sent to the recogniser, re-hearing included")
FINALS = Counter("tenor_asr_finals", "Final transcripts published")
INTERIMS = Counter("tenor_asr_interims", "Interim transcripts published")
RECONNECTS = Counter("tenor_asr_reconnects", "Streams that broke and were opened again", ["cause"])
FORCED = Counter("tenor_asr_forced_finals", "Finals asked for because audio stopped or an utterance ran long")
SKIPPED = Counter("tenor_asr_skipped_chunks", "Chunks heard before, late, or of a call that is over")
DEAD_LETTERS = Counter("tenor_asr_dead_letters", "Records that could not be read")
CALLS_FAILED = Counter("tenor_asr_calls_failed", "Calls the recogniser would not take")
OPEN_CALLS = Gauge("tenor_asr_open_calls", "Calls being heard")
OPEN_STREAMS = Gauge("tenor_asr_open_streams", "Streams open at the recogniser")
PARKED = Gauge("tenor_asr_parked_channels", "Channels whose audio waits on the bus for a stream")
LATENCY = Histogram(
    "tenor_asr_latency_seconds",
    "From the last spoken word to the published final, in parts",
    ["part"],
    buckets=(0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.5, 5.0, 10.0, 30.0),
)
"""`silence`: speech's end to the audio that decides it; `recogniser`: to its answer; `ours`: to the bus."""
