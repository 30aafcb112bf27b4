"""A call as a vCon, the IETF's container for conversations (draft-ietf-vcon-vcon-core-03, syntax 0.4.0).

    parties       who was on each channel (`role` is of the contact centre extension, "CC")
    dialog        the recording, both sides as channels; of a chat or an e-mail, each message as text
    analysis      transcript, sentiment, intents, and what the call is about
    attachments   the whole call as Tenor keeps it, so that another Tenor loses nothing

People's corrections are in the transcript and the analysis; the attachment has both answers.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec

from storage.queries.calls import WholeCall
from storage.summaries import left
from storage.tables import Call, Sentence
from storage.transfer.document import RecordingPart, parsed, unpacked
from tenor.errors import BadInput

VERSION = "0.4.0"
READ = ("0.0.1", "0.0.2", "0.3.0", "0.4.0")
PURPOSE = "tenor-call"
VENDOR = "Tenor"
MOST_ENVELOPES = 3
ROLES = {"caller": "customer"}
"""What the contact centre extension calls ours."""


def vcon(whole: WholeCall, document: dict[str, Any], recording: RecordingPart | None, url: str = "") -> dict[str, Any]:
    """`recording` comes inline when it has a body, else by `url` and hash; without either it is left out."""
    call = whole.call
    dialog = [_spoken(call, recording, url)] if call.medium == "voice" else _messages(whole)
    # Without anything said there is still something that the rest can be about.
    dialog = dialog or [{"type": "incomplete", "start": iso(call.started_at), "disposition": "hung-up"}]
    about: dict[str, Any] = {"dialog": list(range(len(dialog)))}
    bare = {key: value for key, value in document.items() if key != "recording"}
    return {
        "vcon": VERSION,
        "uuid": identity(call.id),
        "extensions": ["CC"],
        "created_at": iso(call.started_at),
        "updated_at": document["exported_at"],
        **({"subject": call.task} if call.task else {}),
        "parties": [_party(role, call.agent, call.customer) for role in call.roles],
        "dialog": dialog,
        "analysis": _analysis(whole, about),
        "attachments": [
            {
                "purpose": PURPOSE,
                "start": iso(call.started_at),
                "party": 0,
                "dialog": 0,
                "mediatype": "application/json",
                "filename": "call.json",
                "encoding": "json",
                "body": _json(bare),
            }
        ],
    }


def _spoken(call: Call, recording: RecordingPart | None, url: str) -> dict[str, Any]:
    """The call as it was recorded; without a recording at hand, when it was and who spoke."""
    dialog: dict[str, Any] = {
        "type": "recording",
        "start": iso(call.started_at),
        "duration": round(call.duration_ms / 1000, 3),
        "parties": list(range(len(call.roles))),
    }
    if recording is None or not (recording.body or url):
        return dialog
    content = {"body": recording.body, "encoding": "base64url"} if recording.body else {"url": url}
    return {
        **dialog,
        "mediatype": recording.mediatype,
        "filename": call.recording,
        "content_hash": recording.content_hash,
        **content,
    }


def _messages(whole: WholeCall) -> list[dict[str, Any]]:
    """Each message with the time at which it was sent. Its sentences are named after it, and have its time and more:
    how long one reads until one comes to them."""
    messages: dict[str, dict[str, Any]] = {}
    for row in whole.sentences:
        text = whole.said(row)["text"]
        if message := messages.get(row.id.rpartition(".")[0]):
            message["body"] += f" {text}"
            continue
        messages[row.id] = {
            "type": "text",
            "start": iso(row.spoken_at),
            "parties": row.channel,
            "mediatype": "text/plain",
            "body": text,
            "encoding": "none",
        }
    return list(messages.values())


def unsealed(given: dict[str, Any]) -> dict[str, Any]:
    """The vCon that a signature (JWS) is around; who signed it is not verified."""
    if "ciphertext" in given:
        raise BadInput("the vCon is encrypted (JWE)", "decrypt it with its recipient's key first")
    for _ in range(MOST_ENVELOPES):
        payload = given.get("payload")
        if "vcon" in given or payload is None:
            return given
        try:
            opened = parsed(unpacked(payload) if isinstance(payload, str) else b"")
        except ValueError:
            raise BadInput("what is signed is no vCon in base64url at `$.payload`") from None
        if not isinstance(opened, dict):
            raise BadInput("what is signed is no vCon at `$.payload`")
        given = opened
    raise BadInput(f"more than {MOST_ENVELOPES} signatures around each other")


def is_ours(given: dict[str, Any]) -> bool:
    """Whether it holds a call as Tenor keeps it."""
    return any(_is_call(attachment) for attachment in _list(given, "attachments"))


def _is_call(attachment: dict[str, Any]) -> bool:
    return bool(attachment.get("purpose", attachment.get("type")) == PURPOSE)


def document_in(given: dict[str, Any]) -> dict[str, Any]:
    """The call of Tenor in a vCon, with the recording of its dialog."""
    if given.get("vcon") not in READ:
        raise BadInput(f"vCon version {given.get('vcon')!r} is unknown at `$.vcon`", f"we read {', '.join(READ)}")
    found: dict[str, Any] | None = None
    for number, attachment in enumerate(_list(given, "attachments")):
        if _is_call(attachment):
            found = _object(attachment.get("body"), f"$.attachments[{number}].body")
    if found is None:
        raise BadInput(f"this vCon has no attachment `{PURPOSE}`: it is not of Tenor")
    for one in _list(given, "dialog"):
        if one.get("type") == "recording" and one.get("body"):
            found["recording"] = {key: one.get(key) for key in ("mediatype", "content_hash", "body")}
    return found


def identity(call: str) -> str:
    """The same call has the same UUID (version 8) wherever it is exported."""
    digest = bytearray(hashlib.sha256(f"tenor call {call}".encode("utf-8", "surrogatepass")).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x80
    digest[8] = digest[8] & 0x3F | 0x80
    return str(uuid.UUID(bytes=bytes(digest)))


def iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _party(role: str, agent: str, customer: str) -> dict[str, Any]:
    party: dict[str, Any] = {"role": ROLES.get(role, role)}
    if role == "caller" and customer:
        if re.fullmatch(r"\+?[\d\s()./-]{5,}", customer):
            return {**party, "tel": re.sub(r"[\s/]+", "-", customer)}
        if re.fullmatch(r"[^\s@]+@[^\s@]+", customer):
            return {**party, "mailto": customer}
        return {**party, "name": customer, "validation": "none"}
    return {**party, "name": agent, "validation": "none"} if role == "agent" and agent else party


def _analysis(whole: WholeCall, about: dict[str, Any]) -> list[dict[str, Any]]:
    def each(of: Callable[[Sentence, dict[str, str]], dict[str, Any]]) -> str:
        return _json([{"sentence": row.id, **of(row, whole.said(row))} for row in whole.sentences])

    bodies = {
        "transcript": each(
            lambda row, now: {
                "party": row.channel,
                "role": now["role"],
                "start": row.start_ms / 1000,
                "end": row.end_ms / 1000,
                "text": now["text"],
            }
        ),
        "sentiment": each(lambda row, now: {"sentiment": now["sentiment"], "mood": row.mood}),
        "intent": each(lambda row, now: {"intent": now["intent"], "score": row.intent_score, "slots": row.slots}),
        "task": _json({"task": whole.call.task, "score": whole.call.task_score}),
        "summary": _json({**left(whole.call), "wrap_up": whole.call.wrap_up}),
        "metrics": _json(whole.call.metrics),
    }
    written = whole.call.written_summary
    by_model = {"type": "summary", **about, "mediatype": "text/plain", "vendor": VENDOR, "encoding": "none"}
    return [
        *([{**by_model, "product": written["model"], "body": written["text"]}] if written else []),
        *[
            {
                "type": kind,
                **about,
                "mediatype": "application/json",
                "vendor": VENDOR,
                "product": "tenor",
                "schema": f"tenor-{kind}-1",
                "encoding": "json",
                "body": body,
            }
            for kind, body in bodies.items()
        ],
    ]


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _list(given: dict[str, Any], name: str) -> list[dict[str, Any]]:
    rows = given.get(name) or []
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise BadInput(f"not a list of objects at `$.{name}`")
    return rows


def _object(body: Any, place: str) -> dict[str, Any]:
    if isinstance(body, str):
        try:
            body = msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BadInput(f"not JSON at `{place}`: {error}") from None
    if not isinstance(body, dict):
        raise BadInput(f"not an object at `{place}`")
    return body
