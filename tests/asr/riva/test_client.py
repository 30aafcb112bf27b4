"""The connection to the recogniser: encrypted, with our certificate, and what its errors mean."""

from __future__ import annotations

import subprocess
from pathlib import Path

import grpc
import pytest

from asr.riva.client import RivaClient, house_vocabulary, recognition_config
from asr.riva.errors import Backoff, Kind, RivaError, classify
from tenor.errors import BadInput
from tenor.settings import SpeechSettings
from tests.asr.rig import Rig
from tests.asr.scripted_riva import ScriptedRiva, silence, speak


def _certificates(folder: Path) -> None:
    """An authority, and a server and a client it has signed."""

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    key = ("-newkey", "rsa:2048", "-nodes")
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=Test authority")
    (folder / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1")
    for name in ("server", "client"):
        openssl("req", *key, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", "/CN=localhost")
        signing = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names")
        openssl("x509", "-req", "-in", f"{name}.csr", *signing, "-out", f"{name}.pem")


async def test_mutual_tls_and_a_key_on_every_call(tmp_path: Path) -> None:
    _certificates(tmp_path)
    credentials = grpc.ssl_server_credentials(
        [((tmp_path / "server.key").read_bytes(), (tmp_path / "server.pem").read_bytes())],
        root_certificates=(tmp_path / "ca.pem").read_bytes(),
        require_client_auth=True,
    )
    riva = ScriptedRiva(key="secret", credentials=credentials)
    speech = {
        "root_cert": str(tmp_path / "ca.pem"),
        "client_cert": str(tmp_path / "client.pem"),
        "client_key": str(tmp_path / "client.key"),
        "metadata": {"authorization": "Bearer secret"},
    }
    async with Rig(tmp_path, riva, **speech) as rig:
        await rig.call("c1", speak("hello") + silence(760))
        await rig.over("c1")
        assert await rig.texts("c1") == ["hello"]


def test_a_certificate_that_is_not_there_is_named() -> None:
    with pytest.raises(BadInput, match=r"/no/such\.pem"):
        RivaClient(SpeechSettings(root_cert="/no/such.pem"))


@pytest.mark.parametrize(
    ("code", "text", "answered", "kind"),
    [
        ("UNAVAILABLE", "Socket closed", True, "away"),
        ("DEADLINE_EXCEEDED", "no audio received for 60 s", True, "lost"),
        ("INVALID_ARGUMENT", "request for sequence 3 must specify the START flag", True, "lost"),
        ("UNKNOWN", "TRTIS response timeout", True, "lost"),
        ("INVALID_ARGUMENT", "Error: Unavailable model requested given these parameters: ", False, "refused"),
        ("INVALID_ARGUMENT", "something about this chunk", True, "broken"),
        ("RESOURCE_EXHAUSTED", "all streams are in use", False, "busy"),
        ("UNAUTHENTICATED", "wrong key", False, "setup"),
        ("NOT_FOUND", "no such function", False, "setup"),
        ("INTERNAL", "engine fault", True, "broken"),
    ],
)
def test_what_errors_mean(code: str, text: str, answered: bool, kind: Kind) -> None:
    nothing = grpc.aio.Metadata()
    error = grpc.aio.AioRpcError(grpc.StatusCode[code], nothing, nothing, details=text)
    assert classify(error, answered=answered).kind == kind


def test_it_comes_back_when_the_server_says() -> None:
    trailers = grpc.aio.Metadata(("retry-after-ms", "700"))
    error = grpc.aio.AioRpcError(grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.aio.Metadata(), trailers, details="full")
    assert 0.7 <= Backoff().next(classify(error, answered=False)) <= 1.05


def test_waits_grow_and_do_not_come_in_step() -> None:
    first, second = Backoff(), Backoff()
    waits = [(first.next(RivaError("away", "")), second.next(RivaError("away", ""))) for _ in range(8)]
    assert all(left != right for left, right in waits)
    assert waits[-1][0] > 4 * waits[0][0]
    assert max(waits[-1]) <= 5.0


def test_words_of_the_house_travel_as_contexts_and_sentences_as_what_riva_ignores() -> None:
    speech = SpeechSettings(
        vocabulary={"*": ["Harper Valley", "How can I help you?"], "cards": ["Yahoo!", "Which card is it?"]}
    )
    config = recognition_config(speech, 8000, "en-US", [house_vocabulary(speech, "cards")])
    assert [*config.speech_contexts[0].phrases] == ["Harper Valley", "Yahoo!"]
    assert config.custom_configuration["context"] == "How can I help you?\nWhich card is it?"

    others = recognition_config(speech, 8000, "en-US", [house_vocabulary(speech, "loans")])
    assert [*others.speech_contexts[0].phrases] == ["Harper Valley"]
    assert others.custom_configuration["context"] == "How can I help you?"


def test_without_words_of_the_house_nothing_is_added() -> None:
    speech = SpeechSettings(vocabulary={"cards": ["Harper Valley"]})
    config = recognition_config(speech, 8000, "en-US", [house_vocabulary(speech, "")])
    assert not config.speech_contexts
    assert "context" not in config.custom_configuration
