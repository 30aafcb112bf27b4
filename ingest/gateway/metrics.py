"""What the gateway counts. Labels are bounded: platforms and causes we named ourselves."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

CALLS = Counter("tenor_gateway_calls", "Calls begun", ["platform"])
ENDED = Counter("tenor_gateway_calls_ended", "Calls ended", ["platform", "outcome"])
OPEN = Gauge("tenor_gateway_open_calls", "Calls open now", ["platform"])
SOCKETS = Gauge("tenor_gateway_sockets", "Sockets open now", ["platform"])
RESUMED = Counter("tenor_gateway_resumed", "Sockets that came back to their call", ["platform"])
REFUSED = Counter("tenor_gateway_refused", "Sockets refused", ["platform", "cause"])
MALFORMED = Counter("tenor_gateway_malformed", "Protocol errors of peers", ["platform"])
DROPPED = Counter("tenor_gateway_frames_dropped", "Frames heard twice or too late", ["platform"])
IGNORED = Counter("tenor_gateway_messages_ignored", "Messages without audio for us", ["platform", "kind"])
SILENCE = Counter("tenor_gateway_silence_seconds", "Silence put where audio was missing", ["platform"])
ANSWER = Histogram(
    "tenor_gateway_answer_seconds",
    "From the platform's first message to our answer",
    ["platform"],
    buckets=(0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 2, 5),
)
HELD = Gauge("tenor_gateway_held_bytes", "Audio held for a bus that is slow or away")
RETRIES = Counter("tenor_gateway_bus_retries", "Batches the bus did not take at once")
FIRST_AUDIO = Histogram(
    "tenor_gateway_first_audio_seconds",
    "From the assistant's turn to its first sound on the way to the caller",
    buckets=(0.025, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.1, 2, 5),
)
INTERRUPTIONS = Counter(
    "tenor_gateway_interruptions", "Callers who made themselves heard while the assistant spoke", ["outcome"]
)
UNSPOKEN = Counter("tenor_gateway_unspoken_sentences", "Sentences that the speech server could not synthesise")
