"""Whether the packages beside `tenor` are Tenor's own.

Others on PyPI are called `storage` or `asr` too. Installed into the same place, pip writes their files into ours
without a word; found earlier on Python's path, they stand in place of ours. Nothing is imported here that could then be
missing.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

PACKAGES = ("asr", "dashboard", "dialog", "finetune", "ingest", "nlp", "storage", "tenor")
HERE = Path(__file__).resolve().parents[2]


class ForeignPackages(NamedTuple):
    message: str
    remedy: str


def installed() -> list[str]:
    """The packages that an installed Tenor has; none when it runs from its folder."""
    distributions = importlib.metadata.packages_distributions()
    return [package for package in PACKAGES if "tenor" in distributions.get(package, ())]


def overwritten() -> ForeignPackages | None:
    """Other distributions have installed files into packages of an installed Tenor."""
    others = {package: names for package in installed() if (names := _others([package]))}
    if not others:
        return None
    names = sorted({name for found in others.values() for name in found})
    return ForeignPackages(
        f"{', '.join(names)} installed files into Tenor's own packages: {', '.join(others)}", _remedy(names)
    )


def shadowed() -> ForeignPackages | None:
    """Python finds other packages than those beside `tenor`. Quick enough to be asked before every command."""
    places = {}
    for package in PACKAGES:
        spec = importlib.util.find_spec(package)
        origin = Path(spec.origin).resolve() if spec and spec.origin else None
        if origin != HERE / package / "__init__.py":
            places[package] = origin.parent if origin else "nothing"
    if not places:
        return None
    found = ", ".join(f"{place} for `{package}`" for package, place in places.items())
    return ForeignPackages(f"Python finds {found} instead of Tenor's own in {HERE}", _remedy(_others(places)))


def _others(packages: Iterable[str]) -> list[str]:
    distributions = importlib.metadata.packages_distributions()
    return sorted({name for package in packages for name in distributions.get(package, ()) if name and name != "tenor"})


def _remedy(names: Iterable[str]) -> str:
    if not names:
        return "run Tenor from another folder, or in an environment of its own"
    return f"pip uninstall {' '.join(names)}, then install Tenor again, in an environment of its own"
