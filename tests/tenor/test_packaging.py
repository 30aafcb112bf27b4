"""What is installed is what the repository holds: no folder and no data file is left behind."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath

import pytest

REPOSITORY = Path(__file__).parents[2]
NOT_INSTALLED = {"benchmarks", "deploy", "examples", "interop", "tests"}


def tracked() -> list[PurePosixPath]:
    """Files that are committed or about to be."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=REPOSITORY, check=True, text=True, stdout=subprocess.PIPE).stdout
    return [path for path in map(PurePosixPath, listed.splitlines()) if (REPOSITORY / path).is_file()]


@pytest.mark.slow
def test_the_wheel_holds_every_file_of_every_package(tmp_path: Path) -> None:
    files = tracked()
    packages = {path.parts[0] for path in files if len(path.parts) > 1 and path.suffix == ".py"} - NOT_INSTALLED
    ours = {str(path) for path in files if path.parts[0] in packages}
    source = tmp_path / "source"
    for name in [*ours, "pyproject.toml", "README.md", "LICENSE"]:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(REPOSITORY / name, source / name)
    build = f"import setuptools.build_meta; setuptools.build_meta.build_wheel({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", build], cwd=source, check=True, stdout=subprocess.DEVNULL, timeout=120)
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert held == ours
    assert held >= {f"{package}/py.typed" for package in packages}
