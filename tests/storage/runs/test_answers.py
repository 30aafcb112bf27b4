"""Whether runs are certainly apart, by their answers on validation."""

from __future__ import annotations

from pathlib import Path
from random import Random

from storage.runs import answers
from storage.runs.answers import FILE, ValidationAnswer, compare


def answered(share: float, *, calls: int = 60, rows: int = 4, seed: int = 1) -> list[ValidationAnswer]:
    """Rows of calls; in a call, most answers are alike."""
    random, found = Random(seed), []
    for call in range(calls):
        usual = random.random() < share
        for row in range(rows):
            right = usual if random.random() < 0.8 else random.random() < share
            found.append(ValidationAnswer(row=f"{call}/{row}", call=f"call-{call}", kind="intent", right=right))
    return found


def test_a_run_that_is_clearly_better_is_told_with_its_interval() -> None:
    [one] = compare({3: answered(0.5), 4: answered(0.95, seed=2)})
    assert (one.run, one.against, one.rows, one.calls) == (4, 3, 240, 60)
    assert one.certain
    assert one.interval is not None
    assert 0 < one.interval.low < one.value < one.interval.high
    assert one.text.startswith("intent: run 4 against run 3: certainly ")


def test_equal_runs_are_rarely_called_different_however_many_there_are() -> None:
    wrong = 0
    for trial in range(100):
        runs = {run: answered(0.7, seed=1000 * trial + run) for run in range(10)}
        wrong += any(one.certain for one in compare(runs))
    assert wrong <= 12  # of 100; 5 are wanted


def test_few_calls_tell_nothing_whatever_the_figures() -> None:
    [one] = compare({1: answered(0.0, calls=5), 2: answered(1.0, calls=5)})
    assert one.interval is None
    assert not one.certain
    assert one.text == "intent: run 2 against run 1: too few calls to tell (20 rows of 5 calls)"


def test_only_rows_that_both_answered_count() -> None:
    first, second = answered(0.5), answered(0.5, seed=2)
    [one] = compare({1: first, 2: second[: len(second) // 2]})
    assert one.rows == len(second) // 2
    others = [ValidationAnswer(row="x", call="y", kind="intent", right=True)]
    assert compare({1: first, 2: others}) == []


def test_answers_are_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    assert answers.read(tmp_path) == []
    kept = answered(0.5, calls=3)
    answers.write(tmp_path, kept)
    assert answers.read(tmp_path) == kept
    with (tmp_path / FILE).open("a") as file:
        file.write('{"row": "half')
    assert answers.read(tmp_path) == []
