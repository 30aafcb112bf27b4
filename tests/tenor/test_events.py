"""The wire: what goes on a topic comes off it unchanged, and docs/events.md tells the truth about it."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenor import events
from tenor.events import (
    AUDIO,
    CALLS,
    TOPICS,
    TRANSCRIPTS,
    TURNS,
    AudioChunk,
    CallState,
    Event,
    Heard,
    Transcript,
    Unreadable,
)

DOC = (Path(__file__).parents[2] / "docs" / "events.md").read_text("utf-8")


@given(call=st.text(), pcm=st.binary(max_size=4000), start_ms=st.integers(0, 2**40))
def test_audio_survives_the_wire_bit_for_bit(call: str, pcm: bytes, start_ms: int) -> None:
    chunk = AudioChunk(call=call, channel=1, seq=7, start_ms=start_ms, rate=8000, pcm=pcm, captured_at=1.5)
    assert AUDIO.decode(AUDIO.encode(chunk)) == chunk


@given(text=st.text())
def test_a_transcript_keeps_every_character(text: str) -> None:
    said = Transcript(
        call="c", channel=0, role="caller", utterance="c/0/1", start_ms=1, end_ms=2, text=text, final=True
    )
    assert TRANSCRIPTS.decode(TRANSCRIPTS.encode(said)) == said


def test_a_reader_ignores_fields_it_does_not_know() -> None:
    wire = msgspec.json.decode(TRANSCRIPTS.encode(Heard(call="c", channel=0, heard_ms=5)))
    assert TRANSCRIPTS.decode(msgspec.json.encode({**wire, "v": 2, "mood": "new"})).heard_ms == 5


@pytest.mark.parametrize(
    "junk", [b"", b"\xff\xfe", b"{}", b'{"type":"heard"}', b'{"type":"nothing","call":"c"}', b"[" * 500]
)
@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_junk_is_unreadable_with_a_reason(topic: events.Topic, junk: bytes) -> None:
    with pytest.raises(Unreadable, match=r"."):
        topic.decode(junk)


def test_an_event_of_another_topic_is_unreadable() -> None:
    state = CallState(call="c", state="live", at=0.0)
    assert CALLS.decode(CALLS.encode(state)) == state
    with pytest.raises(Unreadable):
        TRANSCRIPTS.decode(CALLS.encode(state))


@pytest.mark.parametrize(("reason", "stopped"), [("audio stopped", True), ("hangup", False)])
def test_the_reason_alone_says_that_audio_stopped_in_what_version_0_2_wrote(reason: str, stopped: bool) -> None:
    wire = msgspec.json.encode({"type": "call_state", "call": "c", "state": "ended", "at": 0.0, "reason": reason})
    assert CALLS.decode(wire).audio_stopped is stopped


def test_that_audio_stopped_does_not_hang_on_the_words_of_the_reason() -> None:
    state = CallState(call="c", state="ended", at=0.0, reason="no sound for a minute", audio_stopped=True)
    assert CALLS.decode(CALLS.encode(state)).audio_stopped


def test_a_turn_of_version_0_3_is_read_as_before() -> None:
    wire = b'{"type":"turn","call":"c","turn":1,"input":"hi","states":["a"],"slots":{},"action":"","reply":"hello"}'
    turn = TURNS.decode(wire)
    assert (turn.turn, turn.input, turn.states, turn.reply) == (1, "hi", ("a",), "hello")
    assert (turn.event, turn.cause, turn.actions, turn.session, turn.ended) == ("heard", (), (), {}, False)


def test_the_specification_names_every_event_and_field() -> None:
    structs = [
        kind
        for kind in vars(events).values()
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and kind is not Event
    ]
    for kind in structs:
        section = re.search(rf"### {kind.__name__}\b(.*?)(?=\n##|\Z)", DOC, re.S)
        assert section, f"docs/events.md does not describe {kind.__name__}"
        fields = [field.name for field in msgspec.structs.fields(kind) if field.name not in ("call", "v")]
        assert re.findall(r"^\| `(\w+)`", section[1], re.M) == fields
    assert all(f"`{topic.name}`" in DOC for topic in TOPICS)
