"""The keypad: which pressed keys are told."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Final

KEYS: Final = frozenset("0123456789*#")
MOST: Final = 3
"""Keys that are told within `WINDOW_S`. More of them are a number: a card, an account, a PIN, which nobody may keep."""
WINDOW_S: Final = 6.0


class Keypad:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._pressed: deque[float] = deque(maxlen=MOST)

    def tells(self, digit: str) -> bool:
        """Whether the key is a choice of the assistant's, and may be published."""
        now = self._clock()
        number = len(self._pressed) == MOST and now - self._pressed[0] < WINDOW_S
        self._pressed.append(now)
        return digit in KEYS and not number
