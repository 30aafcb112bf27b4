"""How many, how long, who may, and what happens at the end."""

from __future__ import annotations

import asyncio
import queue
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import grpc
import pytest
import riva.client
from riva.client.proto import health_pb2, health_pb2_grpc, riva_asr_pb2_grpc
from riva.client.proto import riva_asr_pb2 as pb

from asr.local.options import ServerOptions
from asr.local.server import RivaServer
from tenor.errors import BadInput
from tenor.web.servers import PortInUse
from tests.asr.local.conftest import Running, running
from tests.asr.local.scripted import ScriptedRecognizer, speech


class OpenStream:
    """A stream that stays open until it is told otherwise."""

    def __init__(self, channel: grpc.Channel) -> None:
        self._requests: queue.Queue[Any] = queue.Queue()
        self.call = riva_asr_pb2_grpc.RivaSpeechRecognitionStub(channel).StreamingRecognize(
            iter(self._requests.get, None), timeout=30
        )
        self._requests.put(pb.StreamingRecognizeRequest(streaming_config=pb.StreamingRecognitionConfig()))

    def say(self, data: bytes) -> Any:
        self._requests.put(pb.StreamingRecognizeRequest(audio_content=data))
        return next(self.call)

    def end(self) -> None:
        self._requests.put(None)


def is_serving(channel: grpc.Channel) -> bool:
    answer = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=5)
    return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)


def wait_until(true: Any, seconds: float = 5) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.005)


def test_one_stream_over_the_cap_is_refused_at_once_and_a_cancelled_one_makes_room(
    recognizer: ScriptedRecognizer,
) -> None:
    with running(recognizer, max_streams=2) as server, server.channel() as channel:
        held = [OpenStream(channel), OpenStream(channel)]
        for stream in held:
            stream.say(speech(1).tobytes())
        extra = OpenStream(channel)
        began = time.monotonic()
        with pytest.raises(grpc.RpcError) as raised:
            next(extra.call)
        assert time.monotonic() - began < 0.5
        assert raised.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert int(dict(raised.value.trailing_metadata())["retry-after-ms"]) > 0
        assert is_serving(channel)
        assert (
            riva.client.ASRService(server.auth())
            .stub.GetRivaSpeechRecognitionConfig(pb.RivaSpeechRecognitionConfigRequest())
            .model_config
        )
        held[0].call.cancel()
        wait_until(lambda: server.server.streams == 1 and recognizer.open == 1)
        assert OpenStream(channel).say(bytes(320)) is not None
        for stream in held:
            stream.end()


def test_a_hundred_idle_streams(recognizer: ScriptedRecognizer) -> None:
    with running(recognizer, max_streams=100) as server, server.channel() as channel:
        streams = [OpenStream(channel) for _ in range(100)]
        wait_until(lambda: server.server.streams == 100)
        began = time.process_time()
        time.sleep(0.5)
        assert time.process_time() - began < 0.25
        assert recognizer.open == 0
        for stream in streams:
            stream.end()
        wait_until(lambda: server.server.streams == 0)


def test_an_idle_stream_is_ended(recognizer: ScriptedRecognizer) -> None:
    with running(recognizer, idle_s=0.3) as server, server.channel() as channel:
        stream = OpenStream(channel)
        stream.say(bytes(320))
        with pytest.raises(grpc.RpcError) as raised:
            next(stream.call)
        assert raised.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        assert raised.value.details() == "no audio received for 0.3 s"
        wait_until(lambda: recognizer.open == 0)


def test_a_client_deadline_frees_the_session(riva_server: Running, recognizer: ScriptedRecognizer) -> None:
    with riva_server.channel() as channel:
        endless = (
            pb.StreamingRecognizeRequest(
                **({"audio_content": bytes(320)} if at else {"streaming_config": pb.StreamingRecognitionConfig()})
            )
            for at in range(10**9)
        )
        call = riva_asr_pb2_grpc.RivaSpeechRecognitionStub(channel).StreamingRecognize(endless, timeout=0.3)
        with pytest.raises(grpc.RpcError) as raised:
            for _ in call:
                pass
        assert raised.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    wait_until(lambda: recognizer.open == 0 and riva_server.server.streams == 0)


def test_sixty_mebibytes_are_recognised(riva_server: Running) -> None:
    auth = riva_server.auth(options=[("grpc.max_send_message_length", 64 * 1024 * 1024)])
    response = riva.client.ASRService(auth).offline_recognize(bytes(60 * 1024 * 1024), pb.RecognitionConfig())
    assert response.results[0].audio_processed == pytest.approx(60 * 1024 * 1024 / 32000)


def test_gzip_is_understood(riva_server: Running) -> None:
    with grpc.insecure_channel(riva_server.address, compression=grpc.Compression.Gzip) as channel:
        stub = riva_asr_pb2_grpc.RivaSpeechRecognitionStub(channel)
        response = stub.Recognize(pb.RecognizeRequest(audio=speech(2).tobytes()))
        assert response.results[0].alternatives[0].transcript == "what is "


def test_while_the_models_load(recognizer: ScriptedRecognizer) -> None:
    with running(None) as server, server.channel() as channel:
        assert not is_serving(channel)
        with pytest.raises(grpc.RpcError) as raised:
            riva.client.ASRService(server.auth()).offline_recognize(bytes(320), pb.RecognitionConfig())
        assert raised.value.code() is grpc.StatusCode.UNAVAILABLE

        async def wake() -> None:
            server.server.open(recognizer)

        server.call(wake())
        assert is_serving(channel)
        assert riva.client.ASRService(server.auth()).offline_recognize(bytes(320), pb.RecognitionConfig()).results


def test_stopping_lets_streams_finish(recognizer: ScriptedRecognizer) -> None:
    with running(recognizer) as server, server.channel() as channel:
        stream = OpenStream(channel)
        stream.say(speech(2).tobytes())
        stopping = threading.Thread(target=lambda: server.call(server.server.stop(5)))
        stopping.start()
        wait_until(lambda: not is_serving(channel))
        with pytest.raises(grpc.RpcError) as raised:
            riva.client.ASRService(server.auth()).offline_recognize(bytes(320), pb.RecognitionConfig())
        assert raised.value.code() is grpc.StatusCode.UNAVAILABLE
        stream.end()
        last = list(stream.call)
        assert last[-1].results[0].alternatives[0].transcript == "what is "
        stopping.join(5)
        assert not stopping.is_alive()


def test_stopping_ends_streams_that_do_not(recognizer: ScriptedRecognizer) -> None:
    with running(recognizer) as server, server.channel() as channel:
        stream = OpenStream(channel)
        stream.say(speech(2).tobytes())
        server.call(server.server.stop(0.1))
        with pytest.raises(grpc.RpcError) as raised:
            list(stream.call)
        assert raised.value.code() is grpc.StatusCode.UNAVAILABLE
        assert recognizer.open == 0


def test_the_api_key(recognizer: ScriptedRecognizer) -> None:
    with running(recognizer, api_key="sesame") as server, server.channel() as channel:
        assert is_serving(channel)
        for metadata in (None, [["authorization", "Bearer wrong"]], [["authorization", "sesame"]]):
            with pytest.raises(grpc.RpcError) as raised:
                riva.client.ASRService(server.auth(metadata_args=metadata)).offline_recognize(
                    bytes(320), pb.RecognitionConfig()
                )
            assert raised.value.code() is grpc.StatusCode.UNAUTHENTICATED
        allowed = server.auth(metadata_args=[["authorization", "Bearer sesame"], ["function-id", "1-2-3"]])
        assert riva.client.ASRService(allowed).offline_recognize(bytes(320), pb.RecognitionConfig()).results


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An authority, and a server and a client it vouches for."""
    folder = tmp_path_factory.mktemp("tls")

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=Test authority")
    for name in ("server", "client"):
        openssl("req", *key, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", "/CN=localhost")
        (folder / f"{name}.ext").write_text("subjectAltName=DNS:localhost\n")
        signing = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", f"{name}.ext")
        openssl("x509", "-req", "-in", f"{name}.csr", *signing, "-out", f"{name}.pem")
    return folder


@pytest.mark.parametrize("mutual", [False, True])
def test_tls_with_metadata_and_client_certificates(
    recognizer: ScriptedRecognizer, certificates: Path, mutual: bool
) -> None:
    tls: dict[str, Any] = {"tls_cert": certificates / "server.pem", "tls_key": certificates / "server.key"}
    if mutual:
        tls["tls_client_ca"] = certificates / "ca.pem"
    with running(recognizer, api_key="sesame", **tls) as server:
        known = {"ssl_client_cert": certificates / "client.pem", "ssl_client_key": certificates / "client.key"}
        auth = server.auth(
            ssl_root_cert=certificates / "ca.pem",
            metadata_args=[["authorization", "Bearer sesame"]],
            **(known if mutual else {}),
        )
        chunks = [speech(2).tobytes()[start : start + 999] for start in range(0, 12800, 999)]
        responses = riva.client.ASRService(auth).streaming_response_generator(chunks, pb.StreamingRecognitionConfig())
        assert [r.alternatives[0].transcript for one in responses for r in one.results] == ["what is "]
        if mutual:
            stranger = riva.client.ASRService(server.auth(ssl_root_cert=certificates / "ca.pem"))
            with pytest.raises(grpc.RpcError):
                stranger.offline_recognize(bytes(320), pb.RecognitionConfig())


@pytest.fixture
def taken(riva_server: Running) -> int:
    return riva_server.server.port


@pytest.mark.parametrize("which", ["port", "http_port"])
async def test_a_port_that_is_taken(taken: int, which: str) -> None:
    options: dict[str, Any] = {"port": 0, "http_port": 0, which: taken}
    with pytest.raises(PortInUse, match=f"cannot listen on 127.0.0.1:{taken}: another server is running there"):
        await RivaServer(ServerOptions(**options), ScriptedRecognizer()).start()


async def test_an_unknown_default_engine_is_told_at_once() -> None:
    with pytest.raises(BadInput, match="no engine 'deep'; there are whisper-tiny, moonshine-tiny"):
        RivaServer(ServerOptions(engine="deep"), ScriptedRecognizer())
    server = RivaServer(ServerOptions(engine="moonshine-tiny", port=0, http_port=None), ScriptedRecognizer())
    await server.start()
    async with grpc.aio.insecure_channel(f"localhost:{server.port}") as channel:
        stub = riva_asr_pb2_grpc.RivaSpeechRecognitionStub(channel)
        listed = await stub.GetRivaSpeechRecognitionConfig(pb.RivaSpeechRecognitionConfigRequest())
        assert listed.model_config[0].model_name == "moonshine-tiny-en-US-asr-streaming"
    await asyncio.wait_for(server.stop(0), 5)


def test_tls_settings_that_do_not_fit_together() -> None:
    with pytest.raises(BadInput, match="both a certificate"):
        ServerOptions(tls_cert=Path("a"))
    with pytest.raises(BadInput, match="tls_client_ca"):
        ServerOptions(tls_client_ca=Path("a"))
