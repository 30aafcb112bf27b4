"""The figures that are promised for a million sentences, at a size that the suite can afford."""

from __future__ import annotations

import pytest

from benchmarks.learning.archive import main


def test_the_next_snapshot_costs_a_day(capsys: pytest.CaptureFixture[str]) -> None:
    main(1200)
    told = capsys.readouterr().out
    (cost,) = [line for line in told.splitlines() if line.startswith("it costs")]
    assert float(cost.rpartition("(")[2].rstrip("%)")) <= 5.0
