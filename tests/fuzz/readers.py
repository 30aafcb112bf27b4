"""What reads other people's bytes, each as it is called where they come in."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
from starlette.websockets import WebSocket

from asr.local.codecs.decoder import AudioDecoder, DeclaredFormat
from asr.local.errors import ApiError
from dashboard import api  # noqa: F401 -- first: they know each other
from dashboard.assistant.socket import Hello, Line
from dashboard.routes.actions import WriteNote
from dialog.flow.loading import STARTER, check_texts, load
from dialog.testing.reader import parse_conversations
from ingest.audio.recording import open_recording
from ingest.gateway.audiosocket.registrations import Registrations
from ingest.gateway.audiosocket.session import AudioSocketSession
from ingest.gateway.browser.session import BrowserSession
from ingest.gateway.call_feed import CallFeed
from ingest.gateway.errors import Malformed
from ingest.gateway.genesys.session import GenesysSession
from ingest.gateway.jambonz.session import JambonzSession
from ingest.gateway.session import Session
from ingest.gateway.switchboard import Switchboard
from ingest.gateway.twilio.session import TwilioSession
from ingest.options import IngestOptions
from ingest.sources import Source
from ingest.text.conversation import open_text
from ingest.vcon.call import VconCall
from nlp.rules.parser import read_rules
from storage.datasets import bundle
from storage.datasets.sources import read_source
from storage.labels.files.formats import read_labels
from storage.queries import people
from storage.registry.bundles import _unpack
from storage.transfer import importer
from tenor.assistant.voice_ticket import VoiceTickets
from tenor.errors import BadInput, TenorError
from tenor.events import TRANSCRIPTS, Call, Transcript
from tenor.reading import decode_json, reading
from tenor.settings import GatewaySettings, Settings
from tests.fuzz import corpus
from tests.fuzz.mutation import WORDS
from tests.ingest.gateway.recorder import Recorder


@dataclass(frozen=True)
class Reader:
    corpus: tuple[bytes, ...]
    read: Callable[[bytes, Path], None]
    """Raises nothing but what it refuses with; the path is a file that it may write."""
    share: int
    """Of a thousand inputs: the quicker, the more."""
    words: tuple[bytes, ...] = WORDS


def _text(suffix: str) -> Callable[[bytes, Path], None]:
    def read(content: bytes, path: Path) -> None:
        path = path.with_suffix(suffix)
        path.write_bytes(content)
        with open_text(Source("file", str(path)), IngestOptions()) as found:
            for conversation in found:
                assert msgspec.json.encode(conversation.info())
                for turn in conversation.turns():
                    assert 0 <= turn.start_ms < turn.end_ms < 2**31
                    turn.text.encode()

    return read


def _documents(suffix: str) -> Callable[[bytes, Path], None]:
    def read(content: bytes, path: Path) -> None:
        path = path.with_suffix(suffix)
        path.write_bytes(content)
        for document in importer.documents(path):
            try:
                found = importer.read_any(document)
                if isinstance(found, importer.OthersVcon):
                    call = VconCall(found.given, "other.vcon", path.parent, IngestOptions(), folder=path.parent)
                    assert msgspec.json.encode(call.info())
                    for turn in call.turns():
                        assert 0 <= turn.start_ms < turn.end_ms < 2**31
                        turn.text.encode()
            except BadInput as error:
                one_line(error)

    return read


def _rows(suffix: str, reader: Callable[[Path], Any]) -> Callable[[bytes, Path], None]:
    def read(content: bytes, path: Path) -> None:
        path = path.with_suffix(suffix)
        path.write_bytes(content)
        found = reader(path)
        list(found) if hasattr(found, "__iter__") else None

    return read


def _model(content: bytes, path: Path) -> None:
    path.write_bytes(content)
    part = path.with_suffix(".part")
    part.mkdir(exist_ok=True)
    try:
        with reading("model"):
            _unpack(path, part)
    finally:
        for file in part.iterdir():
            file.unlink()
    assert {one.name for one in path.parent.iterdir()} == {path.name, part.name}, "nothing was written elsewhere"


def _dataset(content: bytes, path: Path) -> None:
    path = path.with_suffix(".tar")
    path.write_bytes(content)
    bundle.import_bundle(Settings(home=path.parent), path)


def _recording(suffix: str) -> Callable[[bytes, Path], None]:
    def read(content: bytes, path: Path) -> None:
        path = path.with_suffix(suffix)
        path.write_bytes(content)
        with open_recording(Source("file", str(path))) as recording:
            for _ in islice(recording, 100):
                pass

    return read


def _decoded(content: bytes, _: Path) -> None:
    decoder = AudioDecoder(DeclaredFormat())
    try:
        for start in range(0, len(content), 5000):
            for _samples in decoder.read(content[start : start + 5000]):
                pass
        for _samples in decoder.finish():
            pass
    except ApiError:
        pass


def _flows(content: bytes, _: Path) -> None:
    report = check_texts({"main.yml": content.decode("utf-8", "replace")})
    assert report.assistant is not None or report.faults


def _rules(content: bytes, path: Path) -> None:
    path = path.with_suffix(".yaml")
    path.write_bytes(content)
    read_rules(path)


def _conversations(content: bytes, _: Path) -> None:
    global _assistant
    _assistant = _assistant or load(STARTER)
    parse_conversations(content.decode("utf-8", "replace"), "a.yml", _assistant)


_assistant: Any = None


def _messages(content: bytes, _: Path) -> None:
    for line in content.split(b"\n"):
        for kind in (Hello, Line, WriteNote):
            with suppress(msgspec.MsgspecError):
                decode_json(line, kind)


def _registered(content: bytes, _: Path) -> None:
    with suppress(Malformed):
        Registrations().add(content)


class Gatehouse:
    """The gateway's sessions on a board of their own, without the sockets."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self.settings = Settings(gateway=GatewaySettings(resume_s=0, insecure=True))
        self._tickets = VoiceTickets("secret")
        info = Call(source="web", roles=("caller", "assistant"), started_at=1.0, medium="chat")
        self._ticket = self._tickets.issue("web-1", info, "127.0.0.1", "")[0].encode()

    def session(self, platform: str) -> Callable[[bytes, Path], None]:
        def read(content: bytes, _: Path) -> None:
            self._loop.run_until_complete(self._talk(platform, content.replace(b"TICKET", self._ticket)))

        return read

    async def _talk(self, platform: str, content: bytes) -> None:
        bus = Recorder()
        board = Switchboard(bus, self.settings)
        try:
            async with asyncio.timeout(20):
                if platform == "audiosocket":
                    await self._frames(content, board)
                else:
                    await self._socket(platform, content, board, bus)
        finally:
            await board.stop()

    async def _socket(self, platform: str, content: bytes, board: Switchboard, bus: Recorder) -> None:
        messages: list[dict[str, Any]] = [{"type": "websocket.connect"}]
        for line in content.split(b"\n"):
            try:
                messages.append({"type": "websocket.receive", "text": line.decode()})
            except UnicodeDecodeError:
                messages.append({"type": "websocket.receive", "bytes": line})
        coming = iter(messages)

        async def receive() -> dict[str, Any]:
            await asyncio.sleep(0)
            return next(coming, {"type": "websocket.disconnect", "code": 1000, "reason": ""})

        async def send(_: Any) -> None:
            await asyncio.sleep(0)

        headers = [(b"host", b"x"), (b"audiohook-organization-id", b"d7934305-0972-4844-938e-9060eef73d05")]
        socket = WebSocket({"type": "websocket", "headers": headers, "path": "/", "query_string": b""}, receive, send)
        await socket.accept()
        feed = CallFeed(bus, (TRANSCRIPTS,), (Transcript,))
        session: Session
        match platform:
            case "twilio":
                session = TwilioSession(socket, board)
            case "genesys":
                session = GenesysSession(socket, board, feed)
            case "jambonz":
                session = JambonzSession(socket, board)
            case _:
                session = BrowserSession(socket, board, feed, self._tickets, Counter(), lambda: None)
        await session.run()
        await feed.stop()

    async def _frames(self, content: bytes, board: Switchboard) -> None:
        reader = asyncio.StreamReader()
        reader.feed_data(content)
        reader.feed_eof()
        await AudioSocketSession(reader, _Writer(), board, Registrations()).run()  # type: ignore[arg-type]


class _Writer:
    """Of a socket to nobody."""

    def write(self, data: bytes) -> None: ...

    async def drain(self) -> None: ...

    def close(self) -> None: ...


def one_line(error: TenorError) -> None:
    """Or one for each of the first mistakes."""
    assert error.message.count("\n") <= 21
    assert len(error.message) < 3000


def readers() -> dict[str, Reader]:
    gateway = Gatehouse()
    return {
        "mail": Reader(corpus.MAILS, _text(".eml"), 120),
        "mailbox": Reader(corpus.MAILS[1:], _text(".mbox"), 30),
        "chat": Reader(corpus.CHATS, _text(".txt"), 80),
        "subtitles": Reader(corpus.CHATS[1:3], _text(".vtt"), 30),
        "table": Reader(corpus.TABLES, _text(".csv"), 60),
        "tabs": Reader(corpus.TABLES, _text(".tsv"), 20),
        "objects": Reader(corpus.OBJECTS, _text(".json"), 60),
        "lines": Reader(corpus.OBJECTS, _text(".jsonl"), 30),
        "call": Reader(corpus.DOCUMENTS, _documents(".json"), 80),
        "zip of calls": Reader(corpus.ZIPS, _documents(".zip"), 60),
        "labels in a table": Reader(corpus.LABELS[:1], _rows(".csv", read_labels), 40),
        "labels in lines": Reader(corpus.LABELS[1:2], _rows(".jsonl", read_labels), 30),
        "labels of Label Studio": Reader(corpus.LABELS[2:], _rows(".json", read_labels), 30),
        "people": Reader(corpus.PEOPLE, _rows(".csv", people.read), 20),
        "dataset": Reader(corpus.MANIFESTS, _rows(".jsonl", read_source), 20),
        "bundle of a dataset": Reader(corpus.DATASETS, _dataset, 10),
        "model": Reader(corpus.MODELS, _model, 30),
        "recording": Reader(corpus.SOUNDS, _recording(".wav"), 30),
        "audio sent to be recognised": Reader(corpus.SOUNDS, _decoded, 60),
        "flow": Reader(corpus.FLOWS, _flows, 10),
        "rules": Reader(corpus.RULES, _rules, 20),
        "conversation test": Reader(corpus.CONVERSATIONS, _conversations, 20),
        "messages of pages": Reader(corpus.SHOPPERS, _messages, 30),
        "registration": Reader(corpus.REGISTRATIONS, _registered, 20),
        "twilio": Reader(corpus.TWILIO, gateway.session("twilio"), 30),
        "genesys": Reader(corpus.GENESYS, gateway.session("genesys"), 30),
        "jambonz": Reader(corpus.JAMBONZ, gateway.session("jambonz"), 20),
        "browser": Reader(corpus.BROWSER, gateway.session("browser"), 20),
        "audiosocket": Reader(corpus.AUDIOSOCKET, gateway.session("audiosocket"), 20),
    }
