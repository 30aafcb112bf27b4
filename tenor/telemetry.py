"""What Tenor says about itself: logs, metrics, spans. Never a caller's words, unless asked for."""

from __future__ import annotations

import itertools
import json
import logging
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import prometheus_client
import structlog
from opentelemetry import trace

from tenor.errors import BadInput, Unavailable
from tenor.health import HEALTH
from tenor.settings import TelemetrySettings

WORDS = frozenset({"text", "words", "transcript", "utterance_text", "said", "reply"})
"""Log keys that carry what people said."""
SAME_S, KINDS = 60.0, 1000
"""How long a library's line is not repeated, and how many of its lines are told apart."""


def configure(settings: TelemetrySettings) -> None:
    """Set up logging and the span exporter, once for the process."""
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    on_terminal = settings.log_format == "console" or (settings.log_format == "auto" and sys.stderr.isatty())
    renderer: Any = (
        structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback)
        if on_terminal
        else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *([] if settings.log_words else [without_words]),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),  # as it is now: bars may have taken it over
        cache_logger_on_first_use=False,
    )
    # Libraries log through the standard module; only their warnings are ours to show.
    logging.captureWarnings(True)
    root = logging.getLogger()
    for handler in [one for one in root.handlers if isinstance(one, LibraryLines)]:
        root.removeHandler(handler)
    root.addHandler(LibraryLines(max(level, logging.WARNING)))
    if settings.otlp_endpoint:
        _export_spans(settings.otlp_endpoint)


class LibraryLines(logging.Handler):
    """What libraries log, in our form. One that says the same over and over is told once a minute, with how often."""

    def __init__(self, level: int) -> None:
        super().__init__(level)
        self._told: dict[tuple[str, str], tuple[float, int]] = {}
        """When, and how many since."""

    def emit(self, record: logging.LogRecord) -> None:
        about = (record.name, str(record.msg))
        at, more = self._told.get(about, (float("-inf"), 0))
        if record.created - at < SAME_S:
            self._told[about] = at, more + 1
            return
        if len(self._told) >= KINDS:
            self._told.clear()
        self._told[about] = record.created, 0
        details: dict[str, Any] = {"repeated": more} if more else {}
        if record.exc_info:
            details["exc_info"] = record.exc_info
        structlog.get_logger().log(record.levelno, record.getMessage(), logger=record.name, **details)


def serve_metrics(settings: TelemetrySettings) -> None:
    """Open the port for metrics and health, if there is to be one: of processes that stay, so that a command beside
    them works."""
    if settings.metrics_port:
        kind = _ServerIPv6 if ":" in settings.metrics_host else _Server
        try:
            server = make_server(settings.metrics_host, settings.metrics_port, _monitoring, kind, _SilentHandler)
        except OSError as error:
            raise Unavailable(
                f"cannot serve metrics on port {settings.metrics_port}: {error.strerror}",
                "choose another with telemetry.metrics_port, or 0 for none",
            ) from None
        # In a thread, so that it answers when the event loop does not.
        threading.Thread(target=server.serve_forever, daemon=True, name="metrics").start()


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _ServerIPv6(_Server):
    address_family = socket.AF_INET6


class _SilentHandler(WSGIRequestHandler):
    timeout = 10
    """Seconds that a request may take to arrive."""

    def log_message(self, *_: object) -> None:
        """Nobody wants a line for every probe."""


_metrics = prometheus_client.make_wsgi_app()


def _monitoring(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """`/metrics`, and what orchestrators probe: `/health/live` and `/health/ready`."""
    answer: dict[str, Any]
    match environ["PATH_INFO"]:
        case "/health/live":
            good = HEALTH.alive
            answer = {"alive": good}
        case "/health/ready":
            waits = HEALTH.waits()
            good = not waits
            answer = {"ready": good, "waits_for": waits}
        case _:
            metrics: Iterable[bytes] = _metrics(environ, start_response)
            return metrics
    status = "200 OK" if good else "503 Service Unavailable"
    start_response(status, [("Content-Type", "application/json")])
    return [json.dumps(answer).encode()]


def without_words(_: Any, __: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """Takes callers' words out of a log line, whoever put them there."""
    for key in WORDS & event.keys():
        event[key] = f"({len(str(event[key]))} characters)"
    return event


def trace_stages(name: str, times: Mapping[str, float], **attributes: str | int | float) -> None:
    """One span over all `times`, in order, with a child between each two. Costs nothing without an exporter."""
    tracer = trace.get_tracer("tenor")
    stamps = sorted(times.items(), key=lambda item: item[1])
    if len(stamps) < 2:
        return
    whole = tracer.start_span(name, start_time=_ns(stamps[0][1]), attributes=attributes)
    if whole.is_recording():
        context = trace.set_span_in_context(whole)
        for (_, start), (stage, end) in itertools.pairwise(stamps):
            tracer.start_span(stage, context=context, start_time=_ns(start)).end(_ns(end))
    whole.end(_ns(stamps[-1][1]))


def _ns(seconds: float) -> int:
    return int(seconds * 1e9)


def _export_spans(endpoint: str) -> None:
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise BadInput(
            "telemetry.otlp_endpoint is set but the OpenTelemetry SDK is not installed",
            "pip install 'tenor[otel]'",
        ) from None
    provider = TracerProvider(resource=Resource.create({"service.name": "tenor"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")))
    trace.set_tracer_provider(provider)
