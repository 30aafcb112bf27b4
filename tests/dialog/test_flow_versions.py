"""The flows with which a conversation began are found again, and nothing else is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dialog.flow.loading import AssistantFolder
from dialog.flow_versions import FlowVersions
from tests.dialog.rig import Worker

FLOW = """name: Ours
intent_transitions: {{nomatch.none: tell}}
states:
  init: {{type: message_text, properties: {{text: "{greeting}"}}}}
  input_intent: {{type: input_context, properties: {{nlp_type: jarvis, entities: {{intent: dontcare}}}}}}
  tell: {{type: message_text, properties: {{text: "Yes."}}, transitions: {{next_state: input_intent}}}}
"""


@pytest.fixture
def flows(tmp_path: Path) -> Path:
    folder = tmp_path / "ours"
    folder.mkdir()
    (folder / "main_flow.yml").write_text(FLOW.format(greeting="Hello."))
    return folder


def versions(flows: Path, kept: Path) -> FlowVersions:
    return FlowVersions(AssistantFolder(flows), Worker(kept.parent / "home", flows).of_flows, kept)


def test_a_changed_file_is_taken_over_and_the_old_version_stays(flows: Path, tmp_path: Path) -> None:
    known = versions(flows, tmp_path / "kept")
    old = known.current.engine.assistant.version
    (flows / "main_flow.yml").write_text(FLOW.format(greeting="Good day to you."))
    known.refresh()
    new = known.current.engine.assistant.version
    assert new != old
    found = known.of(old)
    assert found is not None
    assert found.engine.assistant.version == old
    elsewhere = versions(flows, tmp_path / "kept").of(old)  # another process
    assert elsewhere is not None
    assert elsewhere.engine.assistant.version == old
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == sorted((old, f"{old}.svg", new, f"{new}.svg"))


def test_a_wrong_file_is_refused_and_the_assistant_stays_what_it_was(flows: Path, tmp_path: Path) -> None:
    known = versions(flows, tmp_path / "kept")
    before = known.current
    (flows / "main_flow.yml").write_text(FLOW.format(greeting="Hi.").replace("tell}", "nowhere}"))
    known.refresh()
    assert known.current is before


@pytest.mark.parametrize("version", ["", "..", "../ours", "/etc", "abcdef123456", "0" * 5000, "abc\x00def", "ABCDEF"])
def test_a_version_that_is_none_is_not_looked_for(flows: Path, tmp_path: Path, version: str) -> None:
    assert versions(flows, tmp_path / "kept").of(version) is None


def test_files_that_were_changed_where_they_are_kept_are_not_taken(flows: Path, tmp_path: Path) -> None:
    known = versions(flows, tmp_path / "kept")
    old = known.current.engine.assistant.version
    (tmp_path / "kept" / old / "main_flow.yml").write_text(FLOW.format(greeting="Something else."))
    (flows / "main_flow.yml").write_text(FLOW.format(greeting="Good day."))
    assert versions(flows, tmp_path / "kept").of(old) is None


def test_a_folder_that_cannot_be_written_stops_nobody(flows: Path, tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("a file")
    known = versions(flows, tmp_path / "kept")
    assert known.of(known.current.engine.assistant.version) is known.current
    shutil.rmtree(flows)
    known.refresh()
    assert known.current.engine.assistant.version


def test_the_picture_of_a_version_is_kept_with_it_and_names_its_states(flows: Path, tmp_path: Path) -> None:
    version = versions(flows, tmp_path / "kept").current.engine.assistant.version
    picture = tmp_path / "kept" / f"{version}.svg"
    assert 'data-state="main_flow.tell"' in picture.read_text("utf-8")
    assert 'data-from="main_flow.input_intent" data-to="main_flow.tell"' in picture.read_text("utf-8")
    picture.unlink()  # kept by a version of Tenor that drew none
    versions(flows, tmp_path / "kept")
    assert picture.exists()
