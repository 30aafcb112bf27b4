"""`tenor learn --sample` in an empty home, with what is installed and without a network: a model is learned, judged and
in force."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tenor.learn.sample import NAME, TRIED
from tenor.settings import Settings
from tenor.taxonomy.in_force import names_in_force
from tests.offline import NoNetwork
from tests.tenor.cli.command import tenor

pytestmark = pytest.mark.slow


def test_the_sample_company_is_learned_from(tmp_path: Path) -> None:
    (tmp_path / "tenor.toml").write_text(f'home = "{tmp_path / "home"}"\n')
    offline = NoNetwork(tmp_path)
    done = tenor("learn", "--sample", cwd=tmp_path, timeout=900, site=offline.site, prefix=offline.prefix)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert [line[0] for line in lines[:8]] == list("12345678")
    told = [line.split() for line in lines[8:]]
    assert told, "nothing is understood that was not before"
    for _, before, _, after, *words in told:
        assert before != after == TRIED[" ".join(words)]
    listed = [msgspec.json.decode(line) for line in tenor("models", "list", "--json", cwd=tmp_path).stdout.splitlines()]
    assert [(one["name"], one["version"]) for one in listed if one["state"] == "champion"][-1] == (NAME, 1)
    language = Settings(home=tmp_path / "home").language
    model = language.model_copy(update={"model": str(tmp_path / "home" / "learn" / "models" / f"{NAME}-1")})
    assert "swarm_alert" in names_in_force(model).intents
    again = tenor("learn", "--sample", cwd=tmp_path, timeout=900)
    assert again.returncode == 0
    assert "everything is current" in again.stderr
    trained = tenor(
        *("finetune", f"{NAME}@1", "--recipe", "head", "--set", "epochs=1", "--set", "replay=100"),
        cwd=tmp_path, timeout=600, site=offline.site, prefix=offline.prefix,
    )  # fmt: skip
    assert trained.returncode == 0, trained.stderr
    for command in (("archive",), ("snapshot", "take"), ("dataset", "export", f"{NAME}@1", "--out", "out.tar")):
        done = tenor(*command, cwd=tmp_path, site=offline.site, prefix=offline.prefix)
        assert done.returncode == 0, done.stderr
    assert not offline.tried


def test_what_wants_to_leave_is_seen(tmp_path: Path) -> None:
    (tmp_path / "tenor.toml").write_text("")
    offline = NoNetwork(tmp_path)
    done = tenor(
        "dataset", "fetch", "http://192.0.2.1/words.zip", cwd=tmp_path, site=offline.site, prefix=offline.prefix
    )
    assert done.returncode != 0
    assert "192.0.2.1" in offline.tried
