# ruff: noqa: N802 (gRPC gives the names of the methods)
"""gRPC's health service, from the copy inside the Riva client: a second copy cannot share the process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from typing import Any

import grpc
from riva.client.proto import health_pb2, health_pb2_grpc

from asr.local.errors import ApiError

SERVICE = "grpc.health.v1.Health"


class HealthService(health_pb2_grpc.HealthServicer):  # type: ignore[misc]
    def __init__(self, services: Collection[str]) -> None:
        self._services = frozenset(services) | {"", SERVICE}
        self._serving = False
        self._changed = asyncio.Event()

    @property
    def serving(self) -> bool:
        return self._serving

    @serving.setter
    def serving(self, serving: bool) -> None:
        self._serving = serving
        self._changed.set()
        self._changed = asyncio.Event()

    async def Check(self, request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> Any:
        self._known(request.service)
        return self._status()

    async def Watch(self, request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> AsyncIterator[Any]:
        """The status now, and every change from then on."""
        self._known(request.service)
        sent = None
        while True:
            changed = self._changed
            if sent is not self._serving:
                sent = self._serving
                yield self._status()
            await changed.wait()

    def _known(self, service: str) -> None:
        if service not in self._services:
            raise ApiError(grpc.StatusCode.NOT_FOUND, f"unknown service {service}")

    def _status(self) -> Any:
        status = health_pb2.HealthCheckResponse.ServingStatus
        return health_pb2.HealthCheckResponse(status=status.SERVING if self._serving else status.NOT_SERVING)
