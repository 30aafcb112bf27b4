"""The examples in docs/rules.md are rules, and the tables name every key there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dashboard.playbook import read_playbook
from nlp.rules import KnownNames, metric_names, read
from nlp.rules.condition_parser import KINDS
from nlp.rules.parser import KEYS, ONLY_FOR
from tenor.taxonomy import intents as taxonomy

SENTIMENTS = {"positive": 1.0, "neutral": 0.0, "negative": -1.0}
PAGE = Path(__file__).parents[3] / "docs" / "rules.md"
BLOCKS = re.findall(r"^```yaml( playbook)?\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(("kind", "block"), BLOCKS)
def test_every_example_is_right(tmp_path: Path, kind: str, block: str) -> None:
    path = tmp_path / "example.yaml"
    path.write_text(block)
    intents = taxonomy.read().names
    if kind:
        assert read_playbook(path, intents)
    else:
        assert len(read(path, KnownNames(intents=intents, sentiments=SENTIMENTS)))


def test_every_key_is_documented() -> None:
    page = PAGE.read_text("utf-8")
    keys = {
        *KEYS,
        *ONLY_FOR,
        *(key for keys in KINDS.values() for key in keys),
        *metric_names.SIDED,
        *metric_names.WHOLE,
    }
    assert not [key for key in sorted(keys) if f"`{key}" not in page and f"{key}:" not in page]
