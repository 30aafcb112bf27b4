"""The file people edit to say what callers may want."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenor.errors import BadInput
from tenor.taxonomy.intents import DEFAULT, read
from tenor.yaml.nodes import Faulty


def test_ours_has_ten_examples_for_every_intent_and_tasks_for_calls() -> None:
    taxonomy = read()
    assert len(taxonomy.names) > 35
    assert all(len(intent.examples) >= 10 for intent in taxonomy.intents)
    assert {"balance", "refund", "agent_request"} <= taxonomy.tasks
    assert "greeting" not in taxonomy.tasks


def test_yes_and_no_are_words_not_booleans() -> None:
    examples = {intent.name: intent.examples for intent in read().intents}
    assert "yes" in examples["confirmation"]
    assert "no" in examples["denial"]


def test_every_fault_is_told_at_once_where_it_is(tmp_path: Path) -> None:
    file = tmp_path / "intents.yaml"
    file.write_text("a: {examples: [x, y, z]}\nb: [1]\nc: {description: d, examples: [x], task: yes}\nunknown: {}\n")
    with pytest.raises(Faulty) as caught:
        read(file)
    found = [(fault.line, fault.column) for fault in caught.value.faults]
    assert found == [(1, 1), (2, 4), (3, 31), (3, 42), (4, 1), (4, 1), (4, 1)]
    for words in ("'a' has no description", "'b' is a mapping", "fewer than 3", "there is no answer", "choose another"):
        assert words in caught.value.message


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "empty"), (b"a: [", "not valid YAML"), (b"\xff\xfe", "not UTF-8"), (b"- a\n- b\n", "mapping is expected")],
)
def test_a_file_that_cannot_be_used_is_explained(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "intents.yaml"
    file.write_bytes(content)
    with pytest.raises(BadInput, match=said):
        read(file)


def test_a_missing_file_is_explained() -> None:
    with pytest.raises(BadInput, match="cannot read"):
        read(DEFAULT.with_name("nowhere.yaml"))
