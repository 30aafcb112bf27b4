"""`tenor doctor --for` lists what others' servers need, in order, each line looked at, with the way out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tenor.runtime.prerequisites import nvidia, ontap
from tenor.runtime.prerequisites.finding import Finding
from tenor.settings import LearnSettings, Settings
from tests.tenor.cli.command import tenor


def program(folder: Path, name: str, *answers: tuple[str, str]) -> None:
    """A program that answers by its first argument."""
    folder.mkdir(exist_ok=True)
    cases = "".join(f"{asked}*) echo '{answer}' ;;\n" for asked, answer in answers)
    path = folder / name
    path.write_text(f'#!/bin/sh\ncase "$*" in\n{cases}*) exit 1 ;;\nesac\n')
    path.chmod(0o755)


def by_what(findings: list[Finding]) -> Mapping[str, Finding]:
    return {finding.what.split(" ", 1)[1]: finding for finding in findings}


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine on which nothing is installed; the folder of its programs."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("NGC_API_KEY", raising=False)
    return tmp_path / "bin"


async def test_nothing_of_nvidias_is_there_and_every_line_says_how_to_get_it(bare: Path, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, speech={"address": "127.0.0.1:1"})
    findings = await nvidia.nvidia(settings)

    assert [finding.what.split(" ")[0] for finding in findings] == [str(number) for number in range(1, 9)]
    assert all(finding.verdict == "bad" and finding.remedy for finding in findings[:7])
    assert by_what(findings)["Riva's images"].detail == "not looked at: Docker comes first"


async def test_what_is_there_of_nvidias_is_told(bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(bare, "nvidia-smi", ("--query-gpu", "Tesla T4, 535.10, 15360 MiB"))
    program(
        bare,
        "docker",
        ("version", "27.1"),
        ("info", '{"nvidia":{},"runc":{}}'),
        ("images", "nvcr.io/nvidia/riva/riva-speech:2.19.0"),
    )
    program(bare, "ngc", ("", ""))
    monkeypatch.setenv("NGC_API_KEY", "nobody-may-read-this")

    findings = await nvidia.nvidia(Settings(home=tmp_path, speech={"address": "127.0.0.1:1"}))

    assert [finding.verdict for finding in findings[:7]] == ["ok"] * 6 + ["bad"]
    assert by_what(findings)["GPU and driver"].detail == "Tesla T4, 535.10, 15360 MiB"
    assert "nobody-may-read-this" not in str(findings)


async def test_a_driver_without_a_gpu_and_a_docker_that_is_not_running_are_told_apart(
    bare: Path, tmp_path: Path
) -> None:
    program(bare, "nvidia-smi")
    program(bare, "docker")
    found = by_what(await nvidia.nvidia(Settings(home=tmp_path, speech={"address": "127.0.0.1:1"})))
    assert found["GPU and driver"].detail == "nvidia-smi finds no GPU"
    assert found["Docker"].detail == "the server does not answer"


async def test_what_ontap_needs_is_told_in_order(bare: Path, tmp_path: Path) -> None:
    findings = await ontap.ontap(Settings(home=tmp_path))
    assert [finding.what.split(" ")[0] for finding in findings] == ["1", "2", "3", "4", "5", "6"]
    found = by_what(findings)
    assert found["configuration"].verdict == found["cluster"].verdict == found["volume"].verdict == "bad"
    assert "netapp_dataops_cli.py config" in found["configuration"].remedy

    folder = tmp_path / ".netapp_dataops"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"connectionType": "ONTAP", "hostname": "127.0.0.1:1", "svm": "s1"}))
    learn = LearnSettings(ontap_volume="calls")
    found = by_what(await ontap.ontap(Settings(home=tmp_path, learn=learn)))
    assert (found["configuration"].verdict, found["cluster"].verdict) == ("ok", "bad")
    assert "127.0.0.1:1 cannot be reached" in found["cluster"].detail
    assert found["account and volume"].verdict == "bad"


async def test_an_archive_on_a_network_mount_is_known(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/vda / ext4 rw 0 0\n10.0.0.5:/calls {tmp_path}/volume nfs4 rw 0 0\n")
    monkeypatch.setattr(ontap, "MOUNTS", mounts)
    on_it = Settings(home=tmp_path, learn=LearnSettings(url=str(tmp_path / "volume" / "learn")))
    beside = Settings(home=tmp_path, learn=LearnSettings(url=str(tmp_path / "volume-2")))
    elsewhere = Settings(home=tmp_path, learn=LearnSettings(url="memory://learn"))
    last = [by_what(await ontap.ontap(one))["archive on it"] for one in (on_it, beside, elsewhere)]
    assert [finding.verdict for finding in last] == ["ok", "note", "bad"]
    assert "10.0.0.5:/calls" in last[0].detail


@pytest.mark.slow
def test_a_word_that_is_none_is_told(tmp_path: Path) -> None:
    done = tenor("doctor", "--for", "nvida", cwd=tmp_path)
    assert done.returncode == 2
    assert "did you mean 'nvidia'" in done.stderr
