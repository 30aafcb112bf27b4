# ruff: noqa: N802 (gRPC gives the names of the methods)
"""Riva's translation service: registered, so that listing its models answers, and serving none."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import grpc
from riva.client.proto import riva_nmt_pb2, riva_nmt_pb2_grpc

from asr.local.errors import unimplemented

SERVICE = "nvidia.riva.nmt.RivaTranslation"
_TEXT = "this server does not translate"


class TranslationService(riva_nmt_pb2_grpc.RivaTranslationServicer):  # type: ignore[misc]
    async def ListSupportedLanguagePairs(self, request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> Any:
        return riva_nmt_pb2.AvailableLanguageResponse()

    async def TranslateText(self, request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> Any:
        raise unimplemented(_TEXT)

    async def StreamingTranslateSpeechToText(
        self, requests: AsyncIterator[Any], context: grpc.aio.ServicerContext[Any, Any]
    ) -> None:
        raise unimplemented(_TEXT)

    async def StreamingTranslateSpeechToSpeech(
        self, requests: AsyncIterator[Any], context: grpc.aio.ServicerContext[Any, Any]
    ) -> None:
        raise unimplemented(_TEXT)
