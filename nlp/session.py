"""How models run: on the processor, in the thread that asks."""

from __future__ import annotations

from pathlib import Path

import onnxruntime


def open_session(graph: bytes | Path) -> onnxruntime.InferenceSession:
    """A graph, or the file of one that refers to weights beside it."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    where = str(graph) if isinstance(graph, Path) else graph
    return onnxruntime.InferenceSession(where, options, providers=["CPUExecutionProvider"])
