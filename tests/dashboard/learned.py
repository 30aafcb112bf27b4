"""A home in which models have learned, for the pages that show it: every dataset, run, gate and promotion is real, made
by the learning loop from a small model and the sample company's calls."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

from finetune.gate import checks
from storage.datasets.importing import import_dataset
from storage.db.engine import Database, using
from storage.jobs import queue, teams
from storage.jobs.queue import Submission
from storage.sample.company import add_company
from storage.transfer.nemo import LabelledLine, nemo_files
from storage.viewer import Viewer
from tenor.learn import finetune, judging, learn
from tenor.settings import Settings
from tests.tenor.learn.company_home import ANN, as_made_up, home_of, prepare_home, unknown

CALLS, LATER = 60, 80
"""When the loop runs first, and when it runs again."""
ENOUGH = 40
"""Labels to judge by; so few calls have no more."""


def learned_home(folder: Path) -> Path:
    """The loop ran twice and promoted what passed; two more runs were tried with other parameters; another set was
    imported; a job waits in the queue."""
    home = prepare_home(folder, calls=CALLS)
    settings = home_of(home)
    with using(settings) as database:
        _learn(settings, database, ANN, epochs=20)
        add_company(database, unknown, calls=LATER)
        as_made_up(database, made_up=False)
        _learn(settings, database, Viewer("grace.linden", "analyst"), epochs=20)
        finetune(settings, database, ANN, "apiary@2", recipe="head", values=["replay=0", "epochs=1"])
        finetune(settings, database, ANN, "apiary@2", recipe="head", values=["replay=0", "epochs=8", "rate=0.003"])
        import_dataset(settings, _orders(folder / "orders"), "orders", by="ann")
        teams.add(database, ANN, "speech", 1.0)
        teams.add(database, ANN, "words", 0.5)
        queue.submit(
            database, ANN, settings, Submission(("finetune", "apiary@2", "--recipe", "head"), team="words", share=0.5)
        )
    return home


def _learn(settings: Settings, database: Database, viewer: Viewer, epochs: int) -> None:
    with patch.object(checks, "FEWEST_LABELS", ENOUGH), patch.object(judging, "TIMED", 10):
        learn(
            settings, database, viewer, name="apiary", values=["replay=0", f"epochs={epochs}"], promote=True,
        )  # fmt: skip


def _orders(folder: Path) -> Path:
    """Somebody else's set, with words that are labelled in two ways."""
    lines = [
        LabelledLine(f"please look at order {number // 2}", intent, ("O",) * 5)
        for number in range(30)
        for intent in ("price_check", "unknown")
    ]
    folder.mkdir()
    for name, content in nemo_files(lines).items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder
