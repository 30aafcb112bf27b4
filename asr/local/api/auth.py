"""Stands before every call: checks the key, and turns what goes wrong into a status."""

from __future__ import annotations

import hmac
import inspect
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import grpc
import structlog

from asr.local.api.limits import StreamLimiter
from asr.local.api.recognition import SERVICE
from asr.local.api.request_memory import LARGEST_CHUNK, LARGEST_MESSAGE, RequestMemory
from asr.local.errors import ApiError, invalid

log = structlog.get_logger(__name__)

MOST_HEALTH_CALLS = 100
HEALTH = "/grpc.health.v1.Health/"
RECORDING = f"/{SERVICE}/Recognize"
"""Its message is a whole recording."""


class AuthInterceptor(grpc.aio.ServerInterceptor):  # type: ignore[misc]
    """An exception in one call ends that call and nothing else; callers never see a Python traceback."""

    def __init__(self, api_key: str, idle_s: float, memory: RequestMemory) -> None:
        """`idle_s`: how long the one message of a call may take to arrive."""
        self._api_key = api_key
        self._idle_s = idle_s
        self._memory = memory
        self._health = StreamLimiter(MOST_HEALTH_CALLS, "health")
        self.draining = False

    async def intercept_service(
        self, continuation: Callable[[Any], Awaitable[Any]], details: grpc.HandlerCallDetails
    ) -> Any:
        handler = await continuation(details)
        if handler is None:
            return None
        refused = self._refuse(details)
        if handler.request_streaming and handler.response_streaming:
            return grpc.stream_stream_rpc_method_handler(
                _with_status(handler.stream_stream, details.method, refused), **_codecs(handler)
            )
        # On the wire a single message is a stream of one: read by us, half a message does not wait for ever.
        if handler.response_streaming:
            return grpc.stream_stream_rpc_method_handler(
                _with_status(self._reading(handler.unary_stream, details.method), details.method, refused),
                **_codecs(handler),
            )
        return grpc.stream_unary_rpc_method_handler(
            _with_status(self._reading(handler.unary_unary, details.method), details.method, refused),
            **_codecs(handler),
        )

    def _reading(self, serve: Callable[..., Any], method: str) -> Callable[..., Any]:
        """`serve`, in the same style, for the first message of a stream."""

        most = LARGEST_MESSAGE if method == RECORDING else LARGEST_CHUNK

        async def first(requests: AsyncIterator[Any]) -> Any:
            try:
                request = await self._memory.read(anext(requests, None), self._idle_s, most)
            except TimeoutError:
                raise ApiError(grpc.StatusCode.DEADLINE_EXCEEDED, f"no request within {self._idle_s:g} s") from None
            if request is None:
                raise invalid("no messages received")
            return request

        if inspect.isasyncgenfunction(serve):

            async def stream_answers(requests: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:
                with self._place(method):
                    async for answer in serve(await first(requests), context):
                        yield answer

            return stream_answers

        async def answer(requests: AsyncIterator[Any], context: Any) -> Any:
            with self._place(method):
                return await serve(await first(requests), context)

        async def answer_recording(requests: AsyncIterator[Any], context: Any) -> Any:
            async with self._memory.recording() as came:
                request = await first(requests)
                came(request)
                return await serve(request, context)

        return answer_recording if method == RECORDING else answer

    def _place(self, method: str) -> AbstractContextManager[None]:
        """Health is told to anybody, who may not take the places of those who have the key."""
        return self._health.slot() if method.startswith(HEALTH) else nullcontext()

    def _refuse(self, details: grpc.HandlerCallDetails) -> ApiError | None:
        """Why this call is not served; None when it is."""
        if details.method.startswith(HEALTH):
            return None
        if self._api_key and not self._has_key(details.invocation_metadata):
            return ApiError(grpc.StatusCode.UNAUTHENTICATED, "a valid `authorization: Bearer <key>` is needed")
        if self.draining:
            return ApiError(grpc.StatusCode.UNAVAILABLE, "the server is shutting down")
        return None

    def _has_key(self, metadata: Any) -> bool:
        """With TLS the official client sends every pair twice, so any right one will do."""
        return any(
            key.lower() == "authorization" and is_bearer(str(value), self._api_key) for key, value in metadata or ()
        )


def is_bearer(header: str, key: str) -> bool:
    scheme, _, given = header.partition(" ")
    return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), key.encode())


def traceback_places(error: BaseException) -> list[str]:
    """Where it was raised. Not its text: that may quote what a caller said, and goes into no log or answer."""
    return [f"{Path(frame.filename).name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]


def _codecs(handler: Any) -> dict[str, Any]:
    return {
        "request_deserializer": handler.request_deserializer,
        "response_serializer": handler.response_serializer,
    }


def _with_status(serve: Callable[..., Any], method: str, refused: ApiError | None) -> Callable[..., Any]:
    """The same handler, in the same style (coroutine or generator), with its exceptions mapped."""
    if inspect.isasyncgenfunction(serve):

        async def stream_answers(request: Any, context: Any) -> AsyncIterator[Any]:
            try:
                if refused is not None:
                    raise refused
                async for answer in serve(request, context):
                    yield answer
            except Exception as error:
                await _abort(context, method, error)

        return stream_answers

    async def answer(request: Any, context: Any) -> Any:
        try:
            if refused is not None:
                raise refused
            return await serve(request, context)
        except Exception as error:
            await _abort(context, method, error)

    return answer


async def _abort(context: Any, method: str, error: Exception) -> None:
    if isinstance(error, grpc.aio.AbortError):
        raise error
    if isinstance(error, ApiError):
        log.info("refused", method=method, code=error.code.name, reason=error.text)
        await context.abort(error.code, error.text, error.trailers)
    log.error("failed", method=method, error=type(error).__name__, at=traceback_places(error))
    await context.abort(grpc.StatusCode.INTERNAL, f"internal error: {type(error).__name__}")
