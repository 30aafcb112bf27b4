"""Settings for a kind of work: read as the command line reads them, with defaults that suit it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import structlog

from tenor import telemetry
from tenor.layers import load
from tenor.settings import Settings

PATIENT = {
    "speech.stop_history_ms": 500,
    "speech.patient": True,
    "speech.timeout_s": 300.0,  # with a hundred recordings at once, as many windows may wait for a decoder
    "riva.window_s": 20.0,
    "ingest.chunk_ms": 500,
}
"""Nobody waits for the end of a sentence here: more patience than live costs fewer words, and less time in all."""
EVERY_CORE = {"language.threads": min(os.cpu_count() or 1, 64)}
"""For work that has the machine to itself."""
QUIET = {"telemetry.log_level": "error"}
"""For work whose results say what the stages would log."""


def load_settings(
    values: Mapping[str, Any] | None = None, *, unless_set: Mapping[str, Any] | None = None, file: Path | None = None
) -> Settings:
    """The settings in force: defaults, then `tenor.toml`, then `TENOR_*` variables, then `values` by dotted name.

    `unless_set` are defaults for one kind of work, which count where none of these says anything else.

        settings = load_settings({"bus.url": "kafka://localhost:9092", "speech.redact": "text"})
    """
    loaded = load(values, file=file)
    own = {name: value for name, value in (unless_set or {}).items() if loaded.origins[name] == "default"}
    return load({**(values or {}), **own}, file=file).settings if own else loaded.settings


def batch_settings(values: Mapping[str, Any] | None = None, *, file: Path | None = None) -> Settings:
    """Settings for recordings and texts that are over: patient, on every core, and quiet, unless something else is set.

    settings = batch_settings({"language.rules": "our-rules.yaml"})
    """
    return load_settings(values, unless_set=PATIENT | EVERY_CORE | QUIET, file=file)


def change_settings(settings: Settings, **changes: Any) -> Settings:
    """The settings with some changed; a section is given as a dict of what changes in it."""
    update = {
        name: getattr(settings, name).model_copy(update=change) if isinstance(change, dict) else change
        for name, change in changes.items()
    }
    return settings.model_copy(update=update)


def ensure_logging(settings: Settings) -> None:
    """Logs as the settings say, unless the program has set up structlog already: untouched, it would print callers'
    words to standard output."""
    if not structlog.is_configured():
        telemetry.configure(settings.telemetry)
