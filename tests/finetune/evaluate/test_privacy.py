"""What redaction costs: measured on folds that share nobody, where names alone tell the answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from finetune.evaluate.privacy import NONE, Redact, fold_of_groups, privacy_sweep
from finetune.evaluate.privacy_picture import privacy_svg
from finetune.recipes.base import TrainingRow
from finetune.recipes.head import HeadParameters
from tenor.errors import BadInput
from tenor.learn.training import RunRecords
from tests.nlp.inference.models.layered import write_layered

Levels = dict[str, tuple[float | None, Redact]]
NAMES = {"price_check": "Elizabeth", "unknown": "Jonathan"}


def rows(customers: int) -> list[TrainingRow]:
    """The intent is the name's and nothing else's."""
    return [
        TrainingRow(
            id=f"{customer} {intent}", group=f"customer {customer}", text=f"this is {name} about order {customer}",
            intent=intent, role="caller", split="test" if customer % 2 else "train",
        )
        for customer in range(customers)
        for intent, name in NAMES.items()
    ]  # fmt: skip


def without_names(text: str, _: str | None) -> str:
    for name in NAMES.values():
        text = text.replace(name, "[person]")
    return text


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_layered(tmp_path_factory.mktemp("small"), {"sentiment": ("neutral",), "intent": (*NAMES,)})


@pytest.mark.slow
def test_what_only_names_tell_is_lost_when_they_are_taken_out(model: Path) -> None:
    levels: Levels = {NONE: (None, lambda text, before: text), "0.9": (0.1, without_names)}
    seen: list[tuple[int, int]] = []
    report = privacy_sweep(
        rows(12), levels, RunRecords(), folds=3, parameters=HeadParameters(model=str(model), epochs=20),
        progress=lambda done, total: seen.append((done, total)),
    )  # fmt: skip
    none, strong = (one.heads["intent"] for one in report.levels)
    assert none.mean == 1.0
    assert strong.accuracy == 0.5
    assert (none.change, strong.change) == (0.0, -0.5)
    assert strong.high is not None
    assert strong.high < 0
    assert [one.masked for one in report.levels] == [0.0, pytest.approx(1 / 6)]
    assert (len(none.folds), report.rows, report.groups) == (3, 24, 12)
    assert seen[-1] == (6, 6)
    lines = report.lines()
    assert sum("mean" in line and "masked" in line for line in lines) == 2
    assert "-50.0%" in lines[-1]
    picture = privacy_svg("What it costs", report)
    assert picture.count("<circle") == 6


def test_a_group_is_in_one_fold_and_folds_are_about_as_large() -> None:
    groups = [f"customer {number % 7}" for number in range(50)]
    place = fold_of_groups(groups, 3)
    assert place == fold_of_groups(list(reversed(groups)), 3)
    sizes = [sum(place[group] == fold for group in groups) for fold in range(3)]
    assert max(sizes) - min(sizes) <= 8


def test_fewer_customers_than_folds_is_told(model: Path) -> None:
    levels: Levels = {NONE: (None, lambda text, before: text)}
    with pytest.raises(BadInput, match="5 folds need"):
        privacy_sweep(rows(2), levels, RunRecords(), folds=5, parameters=HeadParameters(model=str(model)))
