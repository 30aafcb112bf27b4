"""How models run: on the processor, on so many threads, and off the cores when they have nothing to do."""

from __future__ import annotations

from pathlib import Path

import onnxruntime


def open_session(graph: bytes | Path, threads: int = 1) -> onnxruntime.InferenceSession:
    """A graph, or the file of one that refers to weights beside it."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # other stages need the cores
    where = str(graph) if isinstance(graph, Path) else graph
    return onnxruntime.InferenceSession(where, options, providers=["CPUExecutionProvider"])
