"""Model files are checked before they are loaded: those of packages and the one that is ours."""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path


class WrongWeights(Exception):
    """A model file is not the one this version was measured with."""


def package_file(package: str, *parts: str) -> Path:
    """A file of an installed package, without importing the package."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise WrongWeights(f"the package {package} is not installed")
    return Path(spec.submodule_search_locations[0], *parts)


def check_sha256(path: Path, sha256: str) -> Path:
    if not path.is_file():
        raise WrongWeights(f"{path} is missing")
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        raise WrongWeights(f"{path} has SHA-256 {found}, expected {sha256}")
    return path
