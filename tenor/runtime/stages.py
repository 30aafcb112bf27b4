"""Every stage by name, and how it is made. Imported when it is wanted: one command rarely needs all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module

from tenor.bus import Bus
from tenor.cli.redactor import redactor
from tenor.errors import BadInput
from tenor.settings import Settings
from tenor.stage import Stage

STAGES = {
    "gateway": "ingest.gateway:Gateway",
    "asr": "asr.worker:Worker",
    "language": "nlp.worker:LanguageWorker",
    "webhooks": "nlp.rules.webhooks:Webhooks",
    "storage": "storage.writer:Writer",
    "recordings": "storage.recordings:Recorder",
    "retention": "storage.retention:Retention",
    "dashboard": "dashboard.app:Dashboard",
}
"""Name -> class, made with the bus and the settings, in the order of the data's way."""


def check(names: Iterable[str]) -> None:
    """Complain about a name that is no stage's, before anything is started."""
    for name in names:
        if name not in STAGES:
            raise BadInput(f"there is no stage {name!r}", f"stages: {', '.join(STAGES)}")


def stage(name: str, bus: Bus, settings: Settings) -> Stage:
    module, _, class_name = STAGES[name].partition(":")
    make: Callable[..., Stage] = getattr(import_module(module), class_name)
    if name == "asr":  # it may not know the language models itself
        return make(bus, settings, redactor=redactor(settings))
    return make(bus, settings)
