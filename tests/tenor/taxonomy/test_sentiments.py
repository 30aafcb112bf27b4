"""Files of sentiment labels: every mistake is told with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenor.errors import BadInput
from tenor.taxonomy.sentiments import read


def test_every_mistake_is_told_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "labels.yaml"
    path.write_text(
        "good:\n  valence: 2\n  examples: [yes, yes, yes]\n"
        "bad:\n  examples: [no, never, not at all]\n  colour: red\n"
        "odd: [1, 2]\n"
    )
    with pytest.raises(BadInput) as caught:
        read(path)
    told = caught.value.message
    assert f"{path}:2:12: a valence is a number from -1 (negative) to 1 (positive), not '2'" in told
    assert f"{path}:3:13: label 'good' has fewer than 3 different examples" in told
    assert f"{path}:4:1: label 'bad' has no valence" in told
    assert f"{path}:6:3: there is no key of a label 'colour'" in told
    assert f"{path}:7:6: label 'odd' is a mapping" in told


def test_one_label_is_none(tmp_path: Path) -> None:
    path = tmp_path / "labels.yaml"
    path.write_text("good:\n  valence: 1\n  examples: [yes, great, fine]\n")
    with pytest.raises(BadInput, match="at least 2 labels"):
        read(path)
    with pytest.raises(BadInput, match="cannot read"):
        read(tmp_path / "missing.yaml")
