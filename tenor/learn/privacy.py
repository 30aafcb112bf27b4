"""What redaction costs: `tenor evaluate privacy`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from finetune.evaluate.privacy import NONE, PrivacyReport, Redact, privacy_sweep
from finetune.recipes.head import HeadParameters
from storage.datasets import open_dataset
from storage.viewer import Viewer
from tenor.learn.training import RunRecords, training_rows
from tenor.redaction import KINDS
from tenor.redaction.patterns import PatternRedactor
from tenor.runtime.redactor import FinderAtThreshold, FinderWhenNeeded
from tenor.settings import Settings

EPOCHS = 10
Progress = Callable[[int, int], None]


def measure_privacy(
    settings: Settings,
    viewer: Viewer,
    dataset: str,
    *,
    levels: Sequence[float],
    folds: int,
    model: str = "",
    epochs: int = EPOCHS,
    progress: Progress = lambda *_: None,
) -> PrivacyReport:
    """Each level takes out every kind of personal data; of names and addresses, words that are likelier than 1 less the
    level. `model`: the folder that every fold begins with; the one that ships by default, which has seen none of the
    rows. Nothing of the hold-out is looked at."""
    with open_dataset(settings, dataset, viewer=viewer) as opened:
        rows = [row for row in training_rows(opened.rows()) if row.split != "holdout"]
    finder = FinderWhenNeeded(settings)
    of_level: dict[str, tuple[float | None, Redact]] = {NONE: (None, lambda text, before: text)}
    for level in levels:
        threshold = round(1 - level, 6)
        redactor = PatternRedactor(KINDS, FinderAtThreshold(finder, threshold))
        of_level[f"{level:g}"] = threshold, _by(redactor)
    parameters = HeadParameters(model=model, epochs=epochs)
    return privacy_sweep(rows, of_level, RunRecords(), folds=folds, parameters=parameters, progress=progress)


def _by(redactor: PatternRedactor) -> Redact:
    return lambda text, before: redactor.redact(text, (), before=before or "").text
