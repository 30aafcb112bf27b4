"""Further classifiers, by import path: what else is to be said about a sentence (its topic, an aspect, ...).

    [language.classifiers]
    aspect = "nlp.inference.heads.aspects:Aspects"

A classifier is a class. It is made once with the stage's back end, from which it may take what it needs, and asked
about every batch of sentences; what it answers becomes `Sentence.labels["aspect"]`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol

import structlog

from nlp import metrics
from nlp.inference.types import Backend, SentenceAnalysis
from tenor.errors import BadInput, TenorError

log = structlog.get_logger(__name__)

RENAMED_MODULES = {"nlp.aspects": "nlp.inference.heads.aspects"}
"""What settings of version 0.2 may name, and where it is now."""


class Classifier(Protocol):
    """Any thread may call it, one at a time."""

    def classify(self, sentences: Sequence[SentenceAnalysis]) -> Sequence[tuple[str, float] | None]:
        """For each sentence a label and how sure it is, 0..1; None when there is nothing to say."""
        ...


class Classifiers:
    """All there are, by name. One that fails says nothing about that batch and is asked again about the next."""

    def __init__(self, classifiers: Mapping[str, Classifier]) -> None:
        self._classifiers = dict(classifiers)
        self._failed: set[str] = set()

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self._classifiers)

    def labels(self, sentences: Sequence[SentenceAnalysis]) -> list[dict[str, str]]:
        labels: list[dict[str, str]] = [{} for _ in sentences]
        for name, classifier in self._classifiers.items():
            try:
                answers = classifier.classify(sentences)
                names = [None if answer is None else str(answer[0]) for answer in answers]
                if len(names) != len(sentences):
                    raise ValueError(f"{len(names)} answers for {len(sentences)} sentences")
            except Exception as error:  # somebody else's code; the message may hold a caller's words
                metrics.CLASSIFIER_ERRORS.labels(name).inc()
                report = log.warning if name in self._failed else log.error  # commands show errors: one of them
                self._failed.add(name)
                report("a classifier failed", classifier=name, error=type(error).__name__, at=_where(error))
                continue
            for label, of_sentence in zip(names, labels, strict=True):
                if label is not None:
                    of_sentence[name] = label
        return labels


def load_classifiers(paths: Mapping[str, str], backend: Backend) -> Classifiers:
    """The classifiers of the settings; BadInput says all that cannot be loaded, and why."""
    found: dict[str, Classifier] = {}
    faults = []
    if paths and "" not in sys.path:
        sys.path.insert(0, "")  # a module beside the configuration
    for name, path in paths.items():
        try:
            found[name] = _load(path, backend)
        except TenorError as error:
            faults.append(f"{name}: {error.message}")
        except Exception as error:
            faults.append(f"{name}: {path} failed: {type(error).__name__}: {error}")
    if faults:
        raise BadInput(
            f"language.classifiers: {'; '.join(faults)}", 'a classifier is "module:Class"; see docs/language.md'
        )
    return Classifiers(found)


def _load(path: str, backend: Backend) -> Classifier:
    module, colon, name = path.partition(":")
    if not (module and colon and name):
        raise BadInput(f"{path!r} is not module:Class")
    if module in RENAMED_MODULES:
        module, before = RENAMED_MODULES[module], path
        path = f"{module}:{name}"
        log.warning("a classifier has another name now", before=before, now=path)
    try:
        place = import_module(module)
    except ModuleNotFoundError as error:
        now = RENAMED_MODULES.get(error.name or "")
        raise BadInput(f"there is no module {error.name!r}" + (f", it is {now!r} now" if now else "")) from None
    make = getattr(place, name, None)
    if make is None:
        raise BadInput(f"module {module!r} has no {name!r}")
    classifier: Classifier = make(backend)
    if not callable(getattr(classifier, "classify", None)):
        raise BadInput(f"{path} has no method classify(sentences)")
    return classifier


def _where(error: BaseException) -> str:
    """File and line of the place that raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else ""
