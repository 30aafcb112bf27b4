"""The speech stage: audio in, transcripts out. And a speech server of our own, for machines without Riva.

    topic audio
        |
    worker.py          AsrWorker: takes partitions of the topic over, reads them, commits them
    partition.py       AudioPartition: the calls of one partition, and how far it may be committed
    call.py            AsrCall: the channels of one call, and its states    ------>  topic calls
    channel.py         Channel: one channel, from chunks to transcripts; its docstring draws its parts
        |
    audio/             chunks read, joined to one signal, resampled, kept in mind until they are written down
        |
    riva/              a stream to the recogniser: NVIDIA Riva, or local/ (gRPC)
        |
    transcript_writer  results redacted, written down                       ------>  topic transcripts

position.py says what is written down, recovery.py reads that back after a restart, watchdog.py looks after answers and
audio that do not come. local/ is a server of its own, which the stage reaches like any Riva.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import tenor  # noqa: F401 - before ONNX Runtime, which it keeps from reporting

if TYPE_CHECKING:
    from asr.local.options import ServerOptions
    from asr.local.server import RivaServer
    from asr.local.stt.recognizer import LocalRecognizer
    from asr.riva.client import RivaClient
    from asr.riva.errors import RivaError
    from asr.worker import AsrWorker

__all__ = ["AsrWorker", "LocalRecognizer", "RivaClient", "RivaError", "RivaServer", "ServerOptions"]

_MODULES = {
    "AsrWorker": "asr.worker",
    "LocalRecognizer": "asr.local.stt.recognizer",
    "RivaClient": "asr.riva.client",
    "RivaError": "asr.riva.errors",
    "RivaServer": "asr.local.server",
    "ServerOptions": "asr.local.options",
}
"""Loaded when they are asked for: gRPC and the engines take a second, and `tenor doctor` must run without them."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
