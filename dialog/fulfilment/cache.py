"""Answers that may be given again for a few minutes."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping

import msgspec

from dialog.fulfilment.types import ActionCall, ActionResult
from tenor.bounded_dict import BoundedDict

KEEP_S: Mapping[str, float] = {"weather": 600.0, "places": 300.0, "prices": 300.0}
"""Stock and orders are never kept: they change while one looks."""
MOST = 1000
LARGEST = 64 << 10
"""Bytes of an answer that is kept; with MOST it bounds the memory."""
STEP_S = 300
"""Calls whose clocks show the same five minutes may share an answer ("open now", "today")."""


class ResultCache:
    """Kept as bytes, so that no two conversations ever hold the same object."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: BoundedDict[bytes, tuple[float, bytes]] = BoundedDict(MOST)

    def get(self, call: ActionCall) -> ActionResult | None:
        if call.name not in KEEP_S:
            return None
        key = _key(call)
        kept = self._kept.get(key)
        if kept is None or kept[0] < self._clock():
            return None
        self._kept.move_to_end(key)
        return msgspec.json.decode(kept[1], type=ActionResult)

    def put(self, call: ActionCall, result: ActionResult) -> None:
        if call.name not in KEEP_S:
            return
        encoded = msgspec.json.encode(result)
        if len(encoded) <= LARGEST:
            self._kept[_key(call)] = (self._clock() + KEEP_S[call.name], encoded)


def _key(call: ActionCall) -> bytes:
    """The same for the same question of the same customer at about the same time."""
    step = int(call.now.timestamp() // STEP_S)
    zone = str(call.now.tzinfo)
    asked = msgspec.json.encode([call.name, call.arguments, call.customer, step, zone], order="deterministic")
    return hashlib.sha256(asked).digest()
