"""Further classifiers, by import path: what else a sentence is to be told about (its topic, an aspect, ...).

    [language.classifiers]
    aspect = "nlp.aspects:Aspects"

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

from nlp import counters
from nlp.understood import Backend, Understood
from tenor.errors import BadInput, TenorError

log = structlog.get_logger(__name__)


class Classifier(Protocol):
    """Any thread may call it, one at a time."""

    def classify(self, sentences: Sequence[Understood]) -> Sequence[tuple[str, float] | None]:
        """For each sentence a label and how sure it is, 0..1; None when there is nothing to say."""
        ...


class Classifiers:
    """All there are, by name. One that fails says nothing about that batch and is asked again about the next."""

    def __init__(self, classifiers: Mapping[str, Classifier]) -> None:
        self._classifiers = dict(classifiers)
        self._failed: set[str] = set()

    def labels(self, sentences: Sequence[Understood]) -> list[dict[str, str]]:
        labels: list[dict[str, str]] = [{} for _ in sentences]
        for name, classifier in self._classifiers.items():
            try:
                answers = classifier.classify(sentences)
                told = [None if answer is None else str(answer[0]) for answer in answers]
                if len(told) != len(sentences):
                    raise ValueError(f"{len(told)} answers for {len(sentences)} sentences")
            except Exception as error:  # somebody else's code; the message may hold a caller's words
                counters.CLASSIFIER_ERRORS.labels(name).inc()
                tell = log.warning if name in self._failed else log.error  # commands show errors: one of them
                self._failed.add(name)
                tell("a classifier failed", classifier=name, error=type(error).__name__, at=_where(error))
                continue
            for label, of_sentence in zip(told, labels, strict=True):
                if label is not None:
                    of_sentence[name] = label
        return labels


def load(paths: Mapping[str, str], backend: Backend) -> Classifiers:
    """The classifiers of the settings; BadInput says all that cannot be loaded, and why."""
    found: dict[str, Classifier] = {}
    faults = []
    if paths and "" not in sys.path:
        sys.path.insert(0, "")  # a module beside the configuration
    for name, path in paths.items():
        try:
            found[name] = _made(path, backend)
        except TenorError as error:
            faults.append(f"{name}: {error.message}")
        except Exception as error:
            faults.append(f"{name}: {path} failed: {type(error).__name__}: {error}")
    if faults:
        raise BadInput(
            f"language.classifiers: {'; '.join(faults)}", 'a classifier is "module:Class"; see docs/language.md'
        )
    return Classifiers(found)


def _made(path: str, backend: Backend) -> Classifier:
    module, colon, name = path.partition(":")
    if not (module and colon and name):
        raise BadInput(f"{path!r} is not module:Class")
    try:
        place = import_module(module)
    except ModuleNotFoundError as error:
        raise BadInput(f"there is no module {error.name!r}") from None
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
