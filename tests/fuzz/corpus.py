"""Something good of every kind that is read."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Any

from dialog.flow.loading import SHIPPED, STARTER
from nlp.rules.parser import DEFAULT
from storage.datasets.bundle import MANIFEST
from tests.asr.local import recordings
from tests.asr.local.scripted import speech
from tests.ingest.audio.sounds import silent_flac

CALLS = Path(__file__).parents[2] / "examples" / "calls"
CONVERSATION = """From: Anna Example <anna@b.example>
To: help@shop.example
Subject: =?utf-8?q?My_bill=21?=
Date: Mon, 2 Nov 2026 10:02:03 +0100
Message-ID: <1@b.example>
In-Reply-To: <0@b.example>
MIME-Version: 1.0
Content-Type: multipart/alternative; boundary="b1"

--b1
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: quoted-printable

The bill is too high=2E

On Mon, 2 Nov 2026 at 09:00, Help <help@shop.example> wrote:
> We sent it.
--\x20
Anna
--b1
Content-Type: text/html; charset=iso-8859-1

<html><head><style>p {}</style></head><body><p>The bill is <b>too</b> high &amp; late&#33;
<blockquote type="cite">We sent it.</blockquote></p></body></html>
--b1
Content-Disposition: attachment; filename*=utf-8''bill.pdf
Content-Type: application/pdf
Content-Transfer-Encoding: base64

JVBERi0=
--b1--
"""
MAILS = (CONVERSATION.encode(), f"From x\n{CONVERSATION}\n\nFrom x\n{CONVERSATION}".encode(), b"From: a\n\nhi\n")
CHATS = (
    b"[10:02:03] Agent: Good morning\n[10:02:09] Anna Example: My parcel, please\nIt is late.\n10:03 - Agent: Sure\n",
    b"WEBVTT\n\n1\n00:00:01.000 --> 00:00:04.000\n<v Agent>Hello there\n\n00:00:05.000 --> 00:00:06.000\n<v Anna>Hi\n",
    b"1\n00:00:01,000 --> 00:00:04,000\nAgent: Hello\n\n2\n00:00:05,000 --> 00:00:07,500\nCustomer: Hi\n",
    b"02/11/2026, 10:02 - Anna: hello\n02/11/2026, 10:03 - Agent: hello\n",
)
TABLES = (
    b'text,speaker,time,conversation,queue\n"hi, there",anna,2026-11-02T10:02:03Z,c1,billing\n'
    b"hello,agent,10:03,c1,billing\n",
    b"conversation;speaker;text;start\n1;agent;hello;0.5\n1;customer;hi;2.25\n",
    b"text\tspeaker\nhi\tanna\n",
)
OBJECTS = (
    b'[{"text": "hi", "speaker": "anna", "time": 1793613723.5}, {"text": "hello", "role": "agent", "time": "10:03"}]',
    b'{"messages": [{"body": "hi", "from": "anna", "created_at": "2026-11-02T10:02:03Z"}], "id": "c1"}',
    b'{"text": "hi", "speaker": "anna"}\n{"text": "hello", "speaker": "agent"}\n',
)
DOCUMENT: dict[str, Any] = {
    "tenor": "call",
    "version": 1,
    "call": {"id": "c1", "source": "file", "roles": ["caller", "agent"], "started_at": 1793613723.5},
    "sentences": [
        {"id": "c1/0/0", "call": "c1", "text": "hi", "role": "caller", "channel": 0, "start_ms": 0, "end_ms": 9}
    ],
    "labels": [],
    "alerts": [],
    "notes": [],
}
VCON: dict[str, Any] = {
    "vcon": "0.3.0",
    "uuid": "018f3f3e-0000-8000-8000-000000000000",
    "created_at": "2026-11-02T10:02:03Z",
    "parties": [{"tel": "+15550100", "role": "customer"}, {"name": "ann", "role": "agent"}],
    "dialog": [{"type": "text", "start": "2026-11-02T10:02:03Z", "parties": [0], "body": "hi", "encoding": "none"}],
    "analysis": [{"type": "tenor", "vendor": "tenor", "encoding": "json", "body": json.dumps(DOCUMENT)}],
    "attachments": [],
}
TRANSCRIBED = {
    **VCON,
    "dialog": [{**VCON["dialog"][0], "type": "recording", "body": "AAAA", "encoding": "base64url", "duration": 2}],
    "analysis": [
        {"type": "transcript", "dialog": 0, "body": [{"party": 1, "start": 0.5, "end": 1, "text": "hi", "words": []}]},
        {
            "type": "transcript",
            "dialog": [1],
            "body": {"words": [{"word": "hi", "start": 0.1, "end": 2, "speaker": 0}]},
        },
    ],
}
DOCUMENTS = tuple(
    json.dumps(one).encode() for one in (DOCUMENT, VCON, {**VCON, "analysis": [], "payload": "x"}, TRANSCRIBED)
)
LABELS = (
    b"sentence,sentiment,intent,author,at\nc1/0/0,positive,price_check,ann,1793613723\nc1/0/1,negative,,ben,\n",
    b'{"sentence": "c1/0/0", "kind": "sentiment", "value": "positive", "author": "ann"}\n'
    b'{"text": "hi", "intent": "greet"}\n',
    b'[{"id": 1, "data": {"text": "red shirt"}, "annotations": [{"result": [{"from_name": "intent", "type": "choices", '
    b'"value": {"choices": ["price_check"]}}, {"from_name": "slots", "type": "labels", "value": {"start": 0, "end": 3, '
    b'"labels": ["item.color"]}}]}]}]',
)
PEOPLE = (b"agent,display_name,team,site\nann,Ann,red,Berlin\nben,Ben,,\n", b"customer;display_name\nc1;Carla\n")
MANIFESTS = (
    b'{"audio_filepath": "a.wav", "duration": 1.5, "text": "hi", "speaker": "ann", "sentiment": "positive"}\n'
    b'{"audio_filepath": "b.wav", "duration": 2, "text": "hello", "offset": 0.5, "split": "train"}\n',
)


def zipped(**files: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/"), content)
    return made.getvalue()


def _tarred(**files: bytes) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name.replace("__", "/"))
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return made.getvalue()


_CARD = {"name": "house", "version": "1", "kind": "language", "files": {"a.json": sha256(b"{}").hexdigest()}}
ZIPS = (zipped(a__json=DOCUMENTS[0], b=DOCUMENTS[1]), zipped(**{"c1.json": DOCUMENTS[0], "c2.json": DOCUMENTS[1]}))
MODELS = (zipped(**{"house-1/model.json": json.dumps(_CARD).encode(), "house-1/a.json": b"{}"}),)
_BLOB = sha256(b"x").hexdigest()
_VERSION = {
    "name": "calls",
    "version": 1,
    "parent": None,
    "made_at": 1.0,
    "by": "ann",
    "source": "search",
    "hash": _BLOB,
}
_VERSION |= {"rows": _BLOB, "parts": [], "counts": {"train": 1}}
DATASETS = (_tarred(**{MANIFEST: json.dumps(_VERSION).encode(), f"blobs/{_BLOB}": b"x"}),)
_TONE = speech(1, silence_ms=50)
SOUNDS = (
    recordings.wav(_TONE),
    recordings.wav(_TONE, extras=recordings.LIST_CHUNK),
    recordings.wav(_TONE, size=0xFFFFFFFF),
    silent_flac(2),
    (CALLS / "lost-card.ogg").read_bytes()[:20_000],
)
FLOWS = tuple(path.read_bytes() for folder in (STARTER, SHIPPED) for path in sorted(folder.glob("*.yml"))[:3])
RULES = (
    DEFAULT.read_bytes()[:3000],
    b'manager:\n  when:\n    - said: "manager|supervisor"\n      by: caller\n  raise: escalation\n'
    b'  severity: warning\n  say: "{said}"\n',
    b"quiet:\n  when:\n    all:\n      - silence: 20 s\n      - metric: talk_share_agent > 0.8\n"
    b"  raise: alert\n  again after: 1 min\n",
)
CONVERSATIONS = (
    b"greeting:\n  - user: hello\n  - assistant: {says: hello}\n  - user: how much are jeans\n"
    b"  - expect: {state: price}\n",
)
_AUDIO = "f39/f39/f39/f39/f39/"
TWILIO = tuple(
    "\n".join(json.dumps(one) for one in messages).encode()
    for messages in (
        (
            {"event": "connected", "protocol": "Call"},
            {"event": "start", "sequenceNumber": "1", "streamSid": "MZ1", "start": {
                "streamSid": "MZ1", "callSid": "CA1", "tracks": ["inbound", "outbound"],
                "customParameters": {"agent": "ann", "queue": "billing"},
                "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1}}},
            {"event": "media", "sequenceNumber": "2", "media": {
                "track": "inbound", "chunk": "1", "timestamp": "20", "payload": _AUDIO}},
            {"event": "dtmf", "dtmf": {"digit": "1"}},
            {"event": "mark", "mark": {"name": "m1"}},
            {"event": "stop", "sequenceNumber": "3"},
        ),
        (
            {"event": "start", "stream_id": "s", "start": {
                "call_control_id": "v2:a", "media_format": {"encoding": "PCMA", "sample_rate": 16000, "channels": 1}}},
            {"event": "media", "media": {"track": "inbound_track", "chunk": 7, "timestamp": 1, "payload": _AUDIO}},
        ),
    )
)  # fmt: skip
_OPEN = {
    "organizationId": "d7934305-0972-4844-938e-9060eef73d05",
    "conversationId": "090eaa2f-72fa-480a-83e0-8667ff89c0ec",
    "participant": {"id": "x", "ani": "+15550100", "aniName": "Anna", "dnis": "+15550199"},
    "media": [{"type": "audio", "format": "PCMU", "channels": ["external", "internal"], "rate": 8000}],
    "language": "en-US",
    "customConfig": {"agent": "ann", "transcripts": True},
    "continuedSessions": [],
}


def _hook(seq: int, kind: str, parameters: object) -> dict[str, object]:
    about = {"version": "2", "id": "e160e428-53e2-487c-977d-96989bf5c99d", "type": kind, "seq": seq, "serverseq": 0}
    return about | {"parameters": parameters, "position": "PT0S"}


GENESYS = tuple(
    "\n".join(json.dumps(one) for one in messages).encode()
    for messages in (
        (
            _hook(1, "open", _OPEN),
            _hook(2, "ping", {"rtt": "PT0.1S"}),
            _hook(3, "paused", {}),
            _hook(4, "resumed", {"start": "PT1S", "discarded": "PT1.5S"}),
            _hook(5, "discarded", {"start": "PT1S", "discarded": "PT0.5S"}),
            _hook(6, "update", {"language": "de-DE"}),
            _hook(7, "close", {"reason": "end"}),
        ),
        (_hook(1, "open", {**_OPEN, "conversationId": "00000000-0000-0000-0000-000000000000"}),),
        (_hook(1, "open", _OPEN), _hook(2, "error", {"code": 400}), _hook(3, "close", {"reason": "reconnect"})),
    )
)
JAMBONZ = tuple(
    "\n".join(json.dumps(one) for one in messages).encode()
    for messages in (
        (
            {"callSid": "c1", "sampleRate": 16000, "mixType": "stereo", "direction": "inbound", "from": "+15550100",
             "to": "+15550199", "metadata": {"agent": "ann"}},
            {"event": "dtmf", "dtmf": "1", "duration": "1600"},
        ),
        ({"callSid": "c1", "sampleRate": 8000, "mixType": "mono", "metadata": {"assistant": "retail"}},),
    )
)  # fmt: skip
BROWSER = (
    b'{"type": "start", "session": "web-1", "ticket": "TICKET", "microphone": true, "speech": true}\n'
    b'{"type": "speech", "on": false}\n{"type": "mark", "name": "m"}\n{"type": "alive"}\n{"type": "end"}',
    b'{"type": "start", "session": "web-1", "ticket": "x.y"}',
)
_UUID = bytes(range(16))
AUDIOSOCKET = (
    b"\x01\x00\x10"
    + _UUID
    + b"\x10\x01\x40"
    + bytes(320)
    + b"\x03\x00\x011"
    + b"\x10\x01\x40"
    + bytes(320)
    + b"\0\0\0",
    b"\x01\x00\x10" + _UUID + b"\x12\x00\x04abcd\xff\x00\x01\x01",
)
REGISTRATIONS = (
    b'{"uuid": "00010203-0405-0607-0809-0a0b0c0d0e0f", "call": "c1", "role": "agent", "roles": ["caller", "agent"], '
    b'"queue": "billing", "ani": "+15550100"}',
)
SHOPPERS = (
    b'{"token": "x.y.z", "after": "1-2-3"}\n{"text": "how much are jeans", "id": "m1"}',
    b'{"call": "c1", "text": "a note", "sentence": "c1/0/0"}',
)
