"""Classes of an author's own are looked for without running their modules."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialog.flow.import_paths import import_fault


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package whose modules would be noticed if they ran."""
    package = tmp_path / "corner_shop"
    package.mkdir()
    for name in ("__init__", "states"):
        (package / f"{name}.py").write_text("class Loyalty: ...\nraise SystemExit('it ran')\n")
    (package / "broken.py").write_text("class (")
    monkeypatch.syspath_prepend(str(tmp_path))
    return "corner_shop"


def test_a_class_is_found_in_the_text_of_its_module(shop: str) -> None:
    assert import_fault(f"{shop}.states:Loyalty") is None
    assert import_fault(f"{shop}:Loyalty") is None
    assert import_fault(f"{shop}.states:Loyality") == f"there is no 'Loyality' in module '{shop}.states'"


def test_a_module_that_is_not_there_is_told(shop: str) -> None:
    for module in (f"{shop}.orders", f"{shop}.states.deeper", "no_such_shop", "json.decoder.deeper"):
        assert import_fault(f"{module}:Any") == f"there is no module {module!r} on Python's path"


def test_what_cannot_be_told_is_no_fault(shop: str) -> None:
    assert import_fault(f"{shop}.broken:Loyalty") is None
