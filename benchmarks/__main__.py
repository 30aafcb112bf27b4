"""`make bench`: every measurement, one after the other; or those named: `python -m benchmarks latency memory`."""

from __future__ import annotations

import importlib
import os
import sys
import time

from tenor import telemetry
from tenor.settings import TelemetrySettings

FOLDERS = {
    "speech": ("decoding", "recognition", "telephone", "speakers"),
    "pipeline": ("bus", "latency", "memory", "scaling", "batch", "store", "dashboard"),
    "language": ("sentences", "task", "redaction", "spellings", "scenarios"),
    "assistant": ("assistant_model", "assistant", "guard", "noise", "voice", "voice_sessions"),
    "learning": ("archive", "datasets", "gate", "promotion", "drift", "company"),
}
ALL = {name: f"benchmarks.{folder}.{name}" for folder, names in FOLDERS.items() for name in names}


def main() -> None:
    names = sys.argv[1:] or ALL
    unknown = [name for name in names if name not in ALL]
    if unknown:
        sys.exit(f"no benchmark {unknown[0]!r}; there are: {', '.join(ALL)}")
    telemetry.configure(TelemetrySettings(log_level="error"))
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before we start")
    for name in names:
        began = time.monotonic()
        print(f"\n== {name} ==", flush=True)
        importlib.import_module(ALL[name]).main()
        print(f"({time.monotonic() - began:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
