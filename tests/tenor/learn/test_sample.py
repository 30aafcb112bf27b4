"""`tenor learn --sample` in an empty home, with what is installed: a model is learned, judged and in force."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from nlp.inference.models.onnx_model import DEFAULT
from tenor.learn.sample import NAME, TRIED
from tenor.model_store.card import read_card
from tenor.settings import Settings
from tenor.taxonomy.in_force import names_in_force
from tests.tenor.cli.command import tenor

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not read_card(DEFAULT).encoder_sha256, reason="the language model that ships cannot be trained on by `head` yet"
    ),
]


def test_the_sample_company_is_learned_from(tmp_path: Path) -> None:
    (tmp_path / "tenor.toml").write_text(f'home = "{tmp_path / "home"}"\n')
    done = tenor("learn", "--sample", cwd=tmp_path, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert [line[0] for line in lines[:8]] == list("12345678")
    told = [line.split() for line in lines[8:]]
    assert len(told) == len(TRIED)
    for _, before, _, after, *_ in told:
        assert before != after  # understood now, and not before
    listed = [msgspec.json.decode(line) for line in tenor("models", "list", "--json", cwd=tmp_path).stdout.splitlines()]
    assert [(one["name"], one["version"]) for one in listed if one["state"] == "champion"][-1] == (NAME, 1)
    language = Settings(home=tmp_path / "home").language
    model = language.model_copy(update={"model": str(tmp_path / "home" / "learn" / "models" / f"{NAME}-1")})
    assert "swarm_alert" in names_in_force(model).intents
    again = tenor("learn", "--sample", cwd=tmp_path, timeout=900)
    assert again.returncode == 0
    assert "everything is current" in again.stderr
