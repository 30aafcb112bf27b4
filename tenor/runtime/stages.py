"""Every stage by name, and how it is made. Imported when it is wanted: one command rarely needs all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module

from tenor.bus import Bus
from tenor.errors import BadInput
from tenor.runtime.model_tools import model_tools
from tenor.runtime.redactor import make_redactor
from tenor.settings import Settings
from tenor.stage import Stage

STAGES = {
    "gateway": "ingest.gateway:Gateway",
    "asr": "asr.worker:AsrWorker",
    "language": "nlp.worker:NlpWorker",
    "assistant": "tenor.runtime.assistant.stage:AssistantStage",
    "webhooks": "nlp.webhooks.worker:WebhookWorker",
    "summaries": "nlp.written_summary.worker:SummaryWorker",
    "storage": "storage.writer.worker:StorageWorker",
    "recordings": "storage.recorder.worker:RecordingWorker",
    "retention": "storage.privacy.retention:RetentionWorker",
    "archive": "storage.archive.worker:ArchiveWorker",
    "reports": "dashboard.report.worker:ReportWorker",
    "learn": "tenor.runtime.learning:LearnWorker",
    "dashboard": "dashboard.app:Dashboard",
}
"""Name -> class, made with the bus and the settings, in the order of the data's way."""


def check(names: Iterable[str]) -> None:
    """Complain about a name that is no stage's, before anything is started."""
    for name in names:
        if name not in STAGES:
            raise BadInput(f"there is no stage {name!r}", f"stages: {', '.join(STAGES)}")


def make_stage(name: str, bus: Bus, settings: Settings) -> Stage:
    """The stage of that name, on that bus."""
    module, _, class_name = STAGES[name].partition(":")
    make: Callable[..., Stage] = getattr(import_module(module), class_name)
    if name == "asr":  # it may know neither the language models itself, nor what the assistant is about
        return make(bus, settings, redactor=make_redactor(settings), expected=_expected(settings))
    if name == "dashboard":  # nor may this
        return make(bus, settings, redactor=make_redactor(settings), tools=model_tools(settings))
    if name == "summaries":
        return make(bus, settings, redactor=make_redactor(settings))
    return make(bus, settings)


def _expected(settings: Settings) -> list[str]:
    from tenor.runtime.assistant.expected_phrases import expected_phrases

    return expected_phrases(settings)
