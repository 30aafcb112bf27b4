"""`tenor doctor --riva-config`: are our addresses those of a Riva quick start."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tenor.errors import BadInput
from tenor.layers import load
from tenor.runtime.prerequisites.finding import Finding
from tenor.runtime.prerequisites.riva_config import compare_riva_config
from tests.tenor.cli.command import tenor

CONFIG = """
# ports
riva_speech_api_port="51051"
riva_speech_api_http_port="51000"
export riva_vision_api_port=61051   # the second server
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "config.sh"
    path.write_text(CONFIG)
    return path


def findings(config: Path, **settings: str) -> list[Finding]:
    return compare_riva_config(
        config, load({key.replace("__", "."): value for key, value in settings.items()}).settings
    )


def test_both_addresses_are_those_of_the_quick_start(config: Path) -> None:
    speech, language = findings(
        config, speech__address="gpu:51051", language__address="gpu:61051", language__backend="riva"
    )
    assert (speech.what, speech.verdict) == ("speech.address", "ok")
    assert (language.what, language.detail) == ("language.address", "gpu:61051, as riva_vision_api_port=61051")


def test_the_one_that_differs_is_told_with_the_way_out(config: Path, tmp_path: Path) -> None:
    flags = ("--set", "speech.address=gpu:51051", "--set", "language.backend=riva")
    done = tenor(*flags, "doctor", "--riva-config", config, "--json", cwd=tmp_path)
    assert done.returncode == 1
    speech, language = json.loads(done.stdout)
    assert speech["verdict"] == "ok"
    assert language["detail"] == "gpu:51051 differs from riva_vision_api_port=61051"
    assert language["remedy"] == 'set language.address = "gpu:61051", or riva_vision_api_port="51051" in the file'


def test_the_language_server_is_only_a_note_where_nobody_asks_it(config: Path) -> None:
    assert findings(config, speech__address="gpu:51051")[1].verdict == "note"


@pytest.mark.parametrize(
    ("text", "told"),
    [("use_existing_rmirs=false\n", "sets no riva_speech_api_port"), (None, "No such file or directory")],
)
def test_a_file_that_is_no_quick_start_s_is_refused(tmp_path: Path, text: str | None, told: str) -> None:
    path = tmp_path / "other.sh"
    if text is not None:
        path.write_text(text)
    with pytest.raises(BadInput, match=told):
        findings(path)


def test_a_port_that_is_a_variable_is_told_and_never_evaluated(tmp_path: Path) -> None:
    path = tmp_path / "config.sh"
    path.write_text(f'riva_speech_api_port="$(touch {tmp_path}/gone)"\n')
    speech, language = findings(path)
    assert "which is no number" in speech.detail
    assert language.detail.endswith("the file sets no riva_vision_api_port")
    assert not (tmp_path / "gone").exists()
