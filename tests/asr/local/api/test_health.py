"""Health, reflection, and the service that only says it is not there."""

from __future__ import annotations

import subprocess
import sys

import grpc
import pytest
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase
from riva.client.proto import health_pb2, health_pb2_grpc, riva_nmt_pb2, riva_nmt_pb2_grpc

from tests.asr.local.conftest import Running

SERVICES = [
    "nvidia.riva.asr.RivaSpeechRecognition",
    "nvidia.riva.tts.RivaSpeechSynthesis",
    "nvidia.riva.nmt.RivaTranslation",
    "grpc.health.v1.Health",
]
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


@pytest.mark.parametrize("service", ["", *SERVICES])
def test_each_service_is_healthy(riva_server: Running, service: str) -> None:
    with riva_server.channel() as channel:
        request = health_pb2.HealthCheckRequest(service=service)
        assert health_pb2_grpc.HealthStub(channel).Check(request).status == SERVING


def test_an_unknown_service_is_not_found(riva_server: Running) -> None:
    with riva_server.channel() as channel, pytest.raises(grpc.RpcError) as raised:
        health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(service="weather"))
    assert raised.value.code() is grpc.StatusCode.NOT_FOUND


def test_watching(riva_server: Running) -> None:
    with riva_server.channel() as channel:
        watch = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest(), timeout=10)
        assert next(watch).status == SERVING
        riva_server.call(riva_server.server.stop(0))
        assert next(watch).status == NOT_SERVING


def test_reflection_lists_the_services(riva_server: Running) -> None:
    with riva_server.channel() as channel:
        listed = ProtoReflectionDescriptorDatabase(channel).get_services()
    assert set(SERVICES) <= set(listed)


def test_translation_lists_nothing_and_does_nothing(riva_server: Running) -> None:
    with riva_server.channel() as channel:
        stub = riva_nmt_pb2_grpc.RivaTranslationStub(channel)
        assert not stub.ListSupportedLanguagePairs(riva_nmt_pb2.AvailableLanguageRequest()).languages
        for call in (
            lambda: stub.TranslateText(riva_nmt_pb2.TranslateTextRequest()),
            lambda: list(stub.StreamingTranslateSpeechToText(iter([]))),
            lambda: list(stub.StreamingTranslateSpeechToSpeech(iter([]))),
        ):
            with pytest.raises(grpc.RpcError) as raised:
                call()
            assert raised.value.code() is grpc.StatusCode.UNIMPLEMENTED


def test_the_other_health_package_stays_out() -> None:
    """It registers the same names as the Riva client and the second of them to be imported dies."""
    code = "import asr.local.server, sys; sys.exit('grpc_health' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
