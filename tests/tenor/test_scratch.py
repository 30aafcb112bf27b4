"""Folders of a process's own: there while it lives, and not long after."""

from __future__ import annotations

from pathlib import Path

from tenor.scratch import LOCK, scratch


def test_a_folder_is_gone_with_its_owner_and_leaves_others_alone(tmp_path: Path) -> None:
    with scratch(tmp_path, "tenor-") as mine, scratch(tmp_path, "tenor-") as theirs:
        assert mine.stat().st_mode & 0o777 == 0o700
        (mine / "sound").write_bytes(b"heard")
        assert theirs != mine
        assert (mine / "sound").exists()
    assert list(tmp_path.iterdir()) == []


def test_what_the_dead_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    for name in ("tenor-dead", "tenor-unlocked", "other-dead", "real"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "sound").write_bytes(b"heard")
    for name in ("tenor-dead", "other-dead", "real"):
        (tmp_path / name / LOCK).touch()
    (tmp_path / "tenor-link").symlink_to(tmp_path / "real")
    with scratch(tmp_path, "tenor-"):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other-dead", "real", "tenor-link", "tenor-unlocked"]
    assert (tmp_path / "real" / "sound").exists()
