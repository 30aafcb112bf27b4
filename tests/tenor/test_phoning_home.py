"""Libraries that tell their makers what they are used for: here they do not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.tenor.cli.command import environment

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("module", ["asr.local.stt.vad", "nlp.inference.models.onnx_model"])
def test_onnx_runtime_makes_no_identity_and_no_queue_of_reports(module: str, tmp_path: Path) -> None:
    """It would in ~/.cache, as soon as it is imported, and send them from there."""
    given = {name: value for name, value in environment().items() if name != "ORT_DISABLE_TELEMETRY"}
    code = f"import {module}, onnxruntime; onnxruntime.get_available_providers()"
    variables = {**given, "HOME": str(tmp_path), "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    variables.pop("XDG_CACHE_HOME", None)
    subprocess.run([sys.executable, "-c", code], env=variables, check=True)
    assert list(tmp_path.rglob("*")) == []
