"""The server as a process of its own, and how it ends."""

from __future__ import annotations

import queue
import signal
import socket
import subprocess
import sys
import time
from typing import Any

import grpc
import pytest
from riva.client.proto import health_pb2, health_pb2_grpc, riva_asr_pb2_grpc
from riva.client.proto import riva_asr_pb2 as pb

from tests.asr.local.scripted import speech

PROGRAM = """
import asyncio, sys
from asr.local.options import ServerOptions
from asr.local.server import RivaServer
from tenor.stage import run_stages
from tests.asr.local.scripted import ScriptedRecognizer
options = ServerOptions(port=int(sys.argv[1]), http_port=None, voice="none", grace_s=float(sys.argv[2]))
async def main():
    await run_stages([RivaServer(options, load_recognizer=ScriptedRecognizer)])
asyncio.run(main())
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(channel: grpc.Channel) -> None:
    grpc.channel_ready_future(channel).result(20)
    deadline = time.monotonic() + 20
    check = health_pb2_grpc.HealthStub(channel).Check
    while check(health_pb2.HealthCheckRequest()).status != health_pb2.HealthCheckResponse.SERVING:
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize(("grace", "finishes"), [(10.0, True), (0.2, False)])
@pytest.mark.slow
def test_sigterm_drains_and_then_ends(grace: float, finishes: bool) -> None:
    port = free_port()
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(port), str(grace)], stdout=subprocess.DEVNULL)
    try:
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            wait_for(channel)
            requests: queue.Queue[Any] = queue.Queue()
            stub = riva_asr_pb2_grpc.RivaSpeechRecognitionStub(channel)
            call = stub.StreamingRecognize(iter(requests.get, None), timeout=20)
            requests.put(pb.StreamingRecognizeRequest(streaming_config=pb.StreamingRecognitionConfig()))
            requests.put(pb.StreamingRecognizeRequest(audio_content=speech(2).tobytes()))
            next(call)
            process.send_signal(signal.SIGTERM)
            if finishes:
                time.sleep(0.2)
                requests.put(None)
                assert [r.alternatives[0].transcript for answer in call for r in answer.results] == ["what is "]
            else:
                with pytest.raises(grpc.RpcError) as raised:
                    list(call)
                assert raised.value.code() is grpc.StatusCode.UNAVAILABLE
                requests.put(None)
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.wait()
