"""Whether a version of a dataset may be trained with, asked before every training."""

from __future__ import annotations

from collections.abc import Callable

from storage.archive.sealing.place import ArchivePlace
from storage.datasets import DatasetVersion
from storage.datasets.checking import DatasetReport, check
from storage.datasets.splits import plain_words
from storage.db.engine import Database
from storage.labels.allowed import allowed_names
from tenor.errors import BadInput
from tenor.model_store.store import language_in_force
from tenor.runtime.frozen import frozen_sentences
from tenor.settings import Settings


def check_dataset(
    settings: Settings, database: Database, version: DatasetVersion, *, workers: int = 2,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> DatasetReport:  # fmt: skip
    """What `tenor dataset check` tells."""
    with database.session() as session:
        names = allowed_names(session, language_in_force(settings))
    frozen = {plain_words(text) for text in frozen_sentences()}
    return check(ArchivePlace(settings), version, names, frozen=frozen, workers=workers, progress=progress)


def refuse_errors(report: DatasetReport) -> None:
    """BadInput with the first of them."""
    if not report.may_train:
        wrong = next(finding.message for finding in report.findings if finding.level == "error")
        raise BadInput(f"{report.dataset} cannot be trained with: {wrong}", f"`tenor dataset check {report.dataset}`")
