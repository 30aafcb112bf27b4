"""The steps of the learning loop, and the small file that says which of them have been done with which inputs."""

from __future__ import annotations

import fcntl
import hashlib
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, get_args

import msgspec

from storage.place import Place
from tenor.errors import Unavailable
from tenor.settings import Settings

FOLDER = "loops"

StepName = Literal["archive", "labels", "snapshot", "dataset", "train", "gate", "shadow", "promote"]
Stage = Literal["ingest", "preparation", "archive", "training", "deployment"]
STEPS: tuple[StepName, ...] = get_args(StepName)
STAGES: dict[StepName, Stage] = {
    "archive": "ingest",
    "labels": "preparation",
    "snapshot": "archive",
    "dataset": "preparation",
    "train": "training",
    "gate": "training",
    "shadow": "deployment",
    "promote": "deployment",
}
"""Each step's place among the five stages in which WP-7300 describes such a loop."""


class StepReport(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a step."""

    step: StepName
    text: str
    """The line that people read."""
    skipped: bool = False
    """Its inputs are those of last time, so its outputs are, too."""
    seconds: float = 0.0
    figures: dict[str, Any] = {}
    """The same for programs."""

    @property
    def number(self) -> int:
        return 1 + STEPS.index(self.step)

    @property
    def stage(self) -> Stage:
        return STAGES[self.step]

    def document(self) -> dict[str, Any]:
        """What `--json` prints."""
        return {"number": self.number, "stage": self.stage, **msgspec.to_builtins(self)}


class StepRecord(msgspec.Struct, frozen=True, kw_only=True):
    inputs: str
    """Hash of what the step was made of,"""
    outputs: str
    """and of what it made."""
    text: str
    figures: dict[str, Any] = {}
    at: float = 0.0
    seconds: float = 0.0


class StepRecords:
    """`loops/NAME.json` below learn.url, or in the home folder where that cannot be rewritten. Without it, or killed
    before a line of it was written, a step is done again and finds what it made before; nothing but time depends on
    it."""

    def __init__(self, place: Place, name: str) -> None:
        self._place, self._file = place, f"{FOLDER}/{name}.json"
        try:
            self._known = msgspec.json.decode(place.read(self._file), type=dict[StepName, StepRecord])
        except (FileNotFoundError, msgspec.MsgspecError):
            self._known = {}

    def unchanged(self, step: StepName, inputs: str) -> StepRecord | None:
        """What the step did with these inputs, if it was the last thing it did."""
        found = self._known.get(step)
        return found if found is not None and found.inputs == inputs else None

    @property
    def last_at(self) -> float:
        """When a step was done last; 0: never."""
        return max((one.at for one in self._known.values()), default=0.0)

    def write(self, report: StepReport, inputs: str) -> None:
        self._known[report.step] = StepRecord(
            inputs=inputs, outputs=hash_of(report.figures), text=report.text, figures=report.figures, at=time.time(),
            seconds=report.seconds,
        )  # fmt: skip
        self._place.write(self._file, msgspec.json.format(msgspec.json.encode(self._known), indent=1))


def hash_of(values: Mapping[str, Any]) -> str:
    return hashlib.sha256(msgspec.json.encode(values, order="sorted")).hexdigest()


@contextmanager
def only_one(settings: Settings) -> Iterator[None]:
    """Two loops at once would train the same twice. A process that dies lets go."""
    settings.home.mkdir(parents=True, exist_ok=True)
    with (settings.home / ".loop.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Unavailable(
                "another `tenor learn` is at work here", "`tenor runs list` shows how far it is"
            ) from None
        yield
