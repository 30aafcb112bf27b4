"""Connections that can be cut off: everything between two sides goes through here."""

from __future__ import annotations

import asyncio
from contextlib import suppress


class Link:
    """A port that leads to another. Cut off, nothing gets through either way, and nobody is told; joined again, the
    connections of before are gone."""

    def __init__(self, port: int, target: int) -> None:
        self.port, self._target = port, target
        self._open = asyncio.Event()
        self._open.set()
        self._connections: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Link:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._server.close()
        self._reset()

    def cut(self) -> None:
        self._open.clear()

    def join(self) -> None:
        self._open.set()
        self._reset()

    def _reset(self) -> None:
        for task in self._connections:
            task.cancel()

    async def _serve(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        writers = [back]
        try:
            await self._open.wait()
            with suppress(OSError):
                far, there = await asyncio.open_connection("127.0.0.1", self._target)
                writers.append(there)
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._pass_on(near, there))
                    group.create_task(self._pass_on(far, back))
        except* (OSError, asyncio.CancelledError):
            pass
        finally:
            self._connections.discard(task)
            for writer in writers:
                writer.transport.abort()

    async def _pass_on(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        while data := await source.read(65536):
            await self._open.wait()
            target.write(data)
            await target.drain()
        raise ConnectionResetError  # one side has closed: so does the other
