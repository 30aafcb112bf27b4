"""vCons as other programs write them: who is who, when it was, what was said, and what is left out."""

from __future__ import annotations

import base64
import hashlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from ingest.options import IngestOptions
from ingest.vcon import transcripts
from ingest.vcon.call import VconCall
from tenor.errors import BadInput

WHEN = "2026-03-02T10:00:00.000-05:00"
AT = 1772463600.0
PARTIES = [
    {"tel": "+1-555-0199", "role": "customer"},
    {"name": "Anna Bell", "mailto": "anna@shop.example", "role": "agent"},
]
VOICE = {"type": "recording", "start": WHEN, "duration": 2.0, "parties": [0, 1], "mediatype": "audio/x-wav"}


def wav(channels: int = 2, seconds: float = 2.0) -> bytes:
    held = io.BytesIO()
    noise = np.random.default_rng(1).integers(-3000, 3000, (int(8000 * seconds), channels), dtype=np.int16)
    soundfile.write(held, noise, 8000, format="WAV", subtype="PCM_16")
    return held.getvalue()


def packed(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def recorded(content: bytes, **more: Any) -> dict[str, Any]:
    return {**VOICE, "body": packed(content), "encoding": "base64url", **more}


def message(party: int, body: Any, minute: int, **more: Any) -> dict[str, Any]:
    at = f"2026-03-02T15:{minute:02}:00Z"
    return {"type": "text", "start": at, "parties": [party], "body": body, "encoding": "none", **more}


def vcon(*dialog: Any, **more: Any) -> dict[str, Any]:
    return {"vcon": "0.4.0", "uuid": "018e-77", "parties": PARTIES, "dialog": list(dialog), **more}


@pytest.fixture
def opened(tmp_path: Path) -> Any:
    def opened(given: dict[str, Any], *agents: str, folder: Path | None = None, **options: Any) -> VconCall:
        scratch = tmp_path / "scratch"
        scratch.mkdir(exist_ok=True)
        return VconCall(given, "other.vcon", scratch, IngestOptions(**options), folder=folder, agents=agents)

    return opened


def said(call: VconCall) -> list[tuple[str, int, str]]:
    return [(turn.role, turn.start_ms, turn.text) for turn in call.turns()]


def test_a_chat_has_its_times_and_who_wrote_what(opened: Any) -> None:
    chat = vcon(message(1, "How can I help?", 1), message(0, "My parcel is late.", 0), message(1, "  ", 2))
    call = opened(chat)
    assert said(call) == [("caller", 0, "My parcel is late."), ("agent", 60_000, "How can I help?")]
    info = call.info()
    assert (info.medium, info.started_at, info.agent, info.customer) == ("chat", AT, "Anna Bell", "+1-555-0199")
    assert info.attributes["vcon"] == "018e-77"
    assert not call.warnings


def test_a_recording_is_heard_as_its_parties_are_listed(opened: Any) -> None:
    call = opened(vcon(recorded(wav(), parties=[1, 0])))
    assert call.to_recognize
    with call.recording() as recording:
        assert recording.roles == ("agent", "caller")
        info = recording.info(0.0)
    assert (info.agent, info.customer) == ("Anna Bell", "+1-555-0199")
    assert recording.options.started_at == AT
    with opened(vcon(recorded(wav(1)))).recording() as mono:
        assert mono.speakers == ("caller", "agent")


def test_pieces_of_a_recording_are_one_call_and_two_of_the_same_time_are_refused(opened: Any) -> None:
    later = recorded(wav(), start="2026-03-02T15:01:00Z")
    with opened(vcon(later, recorded(wav()))).recording() as recording:
        assert recording.source.files == 2
    with pytest.raises(BadInput, match="two recordings of the same time"):
        opened(vcon(recorded(wav()), recorded(wav(), start="2026-03-02T15:00:00.500Z")))


@pytest.mark.parametrize(
    ("parties", "agents", "roles", "told"),
    [
        ([{"name": "Ann"}, {"name": "Bob"}], (), "caller agent", "no party says who is the agent"),
        ([{"name": "Ann"}, {"name": "Bob"}], ("ann",), "agent caller", ""),
        ([{"name": "Ann"}, {"tel": "tel:+15550100"}], ("+15550100",), "caller agent", ""),
        ([{"name": "Help desk support"}, {"name": "Bob"}], (), "agent caller", ""),
        ([{"name": "Ann", "role": "Agent"}, {}], (), "agent caller", ""),
        ([{"name": "Ann", "role": "agent"}, {"name": "Bob", "role": "agent"}], ("Bob",), "caller agent", ""),
        ([], (), "caller agent", "no party says who is the agent"),
    ],
)
def test_who_is_the_agent(opened: Any, parties: Any, agents: Any, roles: str, told: str) -> None:
    count = len(parties) or 1
    chat = vcon(message(0, "Hello.", 0), message(count - 1, "Yes?", 1)) | {"parties": parties}
    if not parties:
        chat["dialog"] = [message(0, "Hello.", 0)]
    call = opened(chat, *agents)
    assert " ".join(role for role, _, _ in said(call)) == (roles if parties else "caller")
    assert told in "; ".join(call.warnings) if parties else True


def test_whoever_began_is_the_caller_where_nobody_has_a_role(opened: Any) -> None:
    chat = vcon(message(1, "Hello.", 0, originator=1, parties=[1, 0]), message(0, "Yes?", 1))
    assert [role for role, _, _ in said(opened(chat | {"parties": [{}, {}]}))] == ["caller", "agent"]


def test_what_lies_elsewhere_is_taken_from_the_folder_and_never_fetched(opened: Any, tmp_path: Path) -> None:
    content = wav()
    there = {**VOICE, "url": "https://recordings.example/calls/77.wav?key=secret"}
    with pytest.raises(BadInput, match=r"not in the vCon but at https://recordings\.example/calls/77\.wav ") as refused:
        opened(vcon(there), folder=tmp_path)
    assert "77.wav" in refused.value.hint
    assert "secret" not in str(refused.value)
    (tmp_path / "77.wav").write_bytes(content)
    there["content_hash"] = ["sha512-" + packed(hashlib.sha512(content).digest())]
    assert opened(vcon(there), folder=tmp_path).to_recognize
    (tmp_path / "77.wav").write_bytes(content + b"x")
    with pytest.raises(BadInput, match="its hash differs"):
        opened(vcon(there), folder=tmp_path)
    (tmp_path / "etc").mkdir()
    with pytest.raises(BadInput, match="not in the vCon"):
        opened(vcon({**VOICE, "url": "../../../../etc/passwd"}), folder=tmp_path / "etc")


def test_calls_in_which_nothing_was_said_say_so(opened: Any) -> None:
    missed = {"type": "incomplete", "start": WHEN, "disposition": "no-answer", "parties": [0, 1]}
    with pytest.raises(BadInput, match=r"nothing in it was said: an incomplete call \(no-answer\)"):
        opened(vcon(missed))
    with pytest.raises(BadInput, match="it has no dialog"):
        opened({"vcon": "0.4.0"})
    with pytest.raises(BadInput, match="its recording is not in it"):
        opened(vcon(VOICE))


def test_what_is_left_out_is_told(opened: Any) -> None:
    transfer = {"type": "transfer", "transferee": 0, "transferor": 1, "transfer-target": 1, "start": WHEN}
    given = vcon(
        *(message(0, "Hello.", 0), transfer, {"type": "hologram"}),
        message(0, "x", 1, mediatype="application/pdf"),
        analysis=[{"type": "summary", "vendor": "ACME", "body": "x"}, {"type": "transcript", "body": {"blob": 5}}],
        attachments=[{"purpose": "contract", "body": "x"}],
        mood_ring="blue",
        vcon="0.9.9",
    )
    call = opened(given)
    told = "\n".join(call.warnings)
    for words in (
        *("version '0.9.9'", "a dialog of type 'hologram'", "a text of the type application/pdf"),
        *("summary by ACME", "the transcript was left out: its shape is not known"),
        *("1 attachment (contract)", "the fields mood_ring"),
    ):
        assert words in told
    assert call.info().attributes["transfer"] == "party 1 transferred party 0 to party 1"
    assert call.info().attributes["warnings"] == told


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"parties": 5}, r"\$.parties"),
        ({"dialog": [5]}, r"\$.dialog"),
        ({"dialog": [recorded(b"") | {"body": "*!*"}]}, r"not base64url at `\$.dialog\[0\].body`"),
        ({"dialog": [{**VOICE, "body": "x", "encoding": "rot13"}]}, "unknown encoding 'rot13'"),
        ({"dialog": [message(7, "Hello.", 0)]}, r"no such party at `\$.dialog\[0\].parties`"),
        ({"dialog": [message(True, "Hello.", 0)]}, "no such party"),
        ({"dialog": [message(0, "/w", 0, encoding="base64url")]}, "not UTF-8"),
        ({"dialog": [message(0, "x", 0)] * 10_001}, "no call has them"),
        ({"dialog": [message(0, 5, 0, encoding="base64url")], "analysis": "x"}, r"\$.analysis"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(opened: Any, change: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        opened(vcon() | change)


def test_times_that_cannot_be_are_told_and_the_others_hold(opened: Any) -> None:
    call = opened(vcon(message(0, "Hello.", 0, start="yesterday"), message(1, "Yes?", 1)))
    assert "cannot read the time 'yesterday'" in next(iter(call.warnings))
    assert call.info().started_at == AT + 60
    old = opened(vcon(message(0, "Hello.", 0, start=None), created_at="Mon, 02 Mar 2026 10:00:00 -0500"))
    assert old.info().started_at == AT


def test_html_and_base64_with_line_ends_are_text(opened: Any) -> None:
    folded = base64.b64encode("Grüße aus Köln".encode()).decode()
    folded = folded[:8] + "\r\n" + folded[8:]
    page = message(0, "<p>My <b>parcel</b> is late.</p>", 0, mediatype="text/html; charset=utf-8")
    call = opened(vcon(page, message(1, folded, 1, encoding="base64url")))
    assert [text for _, _, text in said(call)] == ["My parcel is late.", "Grüße aus Köln"]


SHAPES: dict[str, Any] = json.loads(Path(__file__).with_name("transcripts.json").read_text())
"""The same two sentences, by the program that writes them so."""
DEEPGRAM = SHAPES["Deepgram, one alternative"]


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("as_text", [True, False])
def test_transcripts_of_other_programs_are_read(opened: Any, name: str, as_text: bool) -> None:
    body = json.dumps(SHAPES[name]) if as_text else SHAPES[name]
    analysis = {"type": "transcript", "dialog": 0, "vendor": "x", "body": body, "encoding": "json"}
    call = opened(vcon(recorded(wav()), analysis=[analysis]))
    assert not call.to_recognize
    assert call.has_recording
    assert said(call) == [("caller", 500, "My card."), ("agent", 1500, "Sure.")]
    assert [turn.end_ms for turn in call.turns()] == [1000, 1900]
    assert call.info().medium == "voice"


def test_the_times_of_words_are_kept(opened: Any) -> None:
    analysis = {"type": "transcript", "dialog": 0, "body": SHAPES["Deepgram, one alternative"]}
    words = next(opened(vcon(recorded(wav()), analysis=[analysis])).turns()).words
    assert [(word.text, word.start_ms, word.end_ms, word.confidence) for word in words] == [
        ("My", 500, 700, 0.9),
        ("card.", 700, 1000, 0.8),
    ]


def test_a_transcript_in_lines_is_read_and_has_an_order(opened: Any) -> None:
    text = "Agent: How can I help?\nCustomer: My card was stolen.\nAgent: I am sorry."
    call = opened(vcon(VOICE, analysis=[{"type": "transcript", "body": text, "encoding": "none"}]))
    assert [(role, words) for role, _, words in said(call)] == [
        ("agent", "How can I help?"),
        ("caller", "My card was stolen."),
        ("agent", "I am sorry."),
    ]
    starts = [start for _, start, _ in said(call)]
    assert starts == sorted(set(starts))


def test_a_transcript_without_speakers_is_told_to_be_one_sides(opened: Any) -> None:
    whisper = {"text": "x", "segments": [{"id": 0, "start": 0.5, "end": 1.0, "text": " My card."}], "language": "en"}
    call = opened(vcon(recorded(wav()), analysis=[{"type": "transcript", "body": whisper}]))
    assert [role for role, _, _ in said(call)] == ["caller"]
    assert "does not say who speaks" in "; ".join(call.warnings)


def test_transcripts_of_two_dialogs_are_placed_where_these_began(opened: Any) -> None:
    def piece(dialog: int, text: str) -> dict[str, Any]:
        return {"type": "transcript", "dialog": dialog, "body": [{"party": 0, "start": 0.5, "end": 1, "text": text}]}

    given = vcon(
        recorded(wav()), recorded(wav(), start="2026-03-02T15:01:00Z"), analysis=[piece(1, "Two."), piece(0, "One.")]
    )
    assert sorted(said(opened(given))) == [("caller", 500, "One."), ("caller", 60_500, "Two.")]


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{}",
        "[]",
        "[[]]",
        "5",
        "null",
        '{"segments": 5}',
        '{"segments": [{"text": 5}]}',
        '{"results": []}',
        "[" * 9999,
        '{"words": [{"word": "x", "start": "NaN"}]}',
        '{"utterances": [{"text": "  "}]}',
    ],
)
def test_hostile_transcripts_are_none(body: str) -> None:
    assert all(one.text for one in transcripts.read(body))


def test_the_same_content_has_the_same_digest_and_another_order_of_keys_changes_nothing(opened: Any) -> None:
    chat = vcon(message(0, "Hello.", 0))
    again = opened(dict(reversed(chat.items())))
    assert opened(chat).digest == again.digest
    assert opened(vcon(message(0, "Hullo.", 0))).digest != again.digest
    assert again.call == "vcon-018e-77"
    assert opened(chat | {"uuid": "../../etc"}).call == "vcon-etc"
    assert opened(chat | {"uuid": None}).call.startswith("vcon-")
