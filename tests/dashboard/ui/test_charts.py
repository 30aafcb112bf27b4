"""The charts before anybody has looked at one."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.slow
def test_what_charts_are_drawn_with_is_loaded_before_two_readers_draw_at_once() -> None:
    """Altair takes pandas as it finds it, also half imported by the page of another reader."""
    asked = "import sys, dashboard.ui.charts; print('pandas' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["True"]
