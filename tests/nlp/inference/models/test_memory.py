"""What models hold in memory, in a process of its own: nothing else may take or give back memory meanwhile."""

from __future__ import annotations

import subprocess
import sys

from nlp.inference.models.token_encoder import DEFAULT

MEASURE = """
import ctypes, sys
from pathlib import Path
import numpy as np
from nlp.inference.models.onnx_model import open_session, run_session

def held():
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("Anonymous")).split()[1]) // 1000

def read(texts, tokens):
    ids = np.ones((texts, tokens), np.int64)
    run_session(session, ["states"], {"input_ids": ids, "attention_mask": ids})

before = held()
session = open_session(Path(sys.argv[1]))
read(1, 12)
opened = held()
read(32, 24)
print(opened - before, held() - opened)
"""


def test_a_model_is_in_memory_once_and_a_large_batch_leaves_nothing_behind() -> None:
    graph = DEFAULT / "model.onnx"
    command = [sys.executable, "-c", MEASURE, str(graph)]
    model, left = map(int, subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())
    assert model < 1.6 * graph.stat().st_size / 1e6, "MB of the model"
    assert left < 10, "MB that the batch left"
