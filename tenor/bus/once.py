"""Something found out once, the first time somebody asks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Once(Generic[K, V]):
    """Values by key. All who ask while a value is being found out go on together, in the order they asked:
    events published at the same time must not overtake each other on the first use of their topic."""

    def __init__(self, find: Callable[[K], Coroutine[Any, Any, V]]) -> None:
        self.known: dict[K, V] = {}
        self._find = find
        self._finding: dict[K, asyncio.Task[V]] = {}

    async def get(self, key: K) -> V:
        if key in self.known:
            return self.known[key]
        if key not in self._finding:
            self._finding[key] = asyncio.create_task(self._find_out(key))
        return await asyncio.shield(self._finding[key])

    async def _find_out(self, key: K) -> V:
        try:
            self.known[key] = await self._find(key)
            return self.known[key]
        finally:
            del self._finding[key]
