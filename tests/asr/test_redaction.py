"""What the worker takes out, in which calls, and what a recorder is told of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from asr.position import CONTEXT_MS, ChannelPosition
from asr.transcript_builder import TranscriptBuilder
from tenor.events import TRANSCRIPTS, Heard, Transcript
from tenor.redaction.patterns import PatternRedactor
from tenor.redaction.silence import EDGE_MS, PAD_MS
from tests.asr.rig import Rig
from tests.asr.scripted_riva import silence, speak

CARD = "four one one one one one one one one one one one one one one one"


@pytest.mark.parametrize(
    ("wish", "queue", "everywhere", "expected"),
    [
        (None, "payments", "off", "audio"),
        (None, "sales", "off", "off"),
        (None, "sales", "text", "text"),
        ("off", "payments", "text", "off"),
        ("text", "payments", "off", "text"),
    ],
)
async def test_a_call_says_itself_else_its_queue_else_the_setting(
    tmp_path: Path, wish: str | None, queue: str, everywhere: str, expected: str
) -> None:
    async with Rig(tmp_path, redact=everywhere, redact_queues={"payments": "audio"}) as rig:
        await rig.call("c1", speak(f"my card is {CARD} thanks") + silence(800), redact=wish, queue=queue)
        ended = await rig.over("c1")
        assert ended.info is not None
        assert ended.info.redact == expected
        assert ("[card]" in " ".join(await rig.texts("c1"))) == (expected != "off")


async def test_a_final_tells_when_it_was_said(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        said = speak(f"my card number is {CARD} thanks") + silence(800)
        await rig.call("open", said, redact="off")
        await rig.call("c1", said, redact="audio")
        await rig.over("open")
        await rig.over("c1")
        [as_said] = await rig.transcripts("open")
        [final] = await rig.transcripts("c1")
        digits = [word for word in as_said.words if word.text in ("four", "one")]
        [taken] = final.redacted
        assert taken.kind == "card"
        assert (taken.start_ms, taken.end_ms) == (digits[0].start_ms - PAD_MS, digits[-1].end_ms + PAD_MS)
        assert [word.text for word in final.words] == ["my", "card", "number", "is", "[card]", "thanks"]
        assert (final.start_ms, final.end_ms, final.confidence) == (
            as_said.start_ms, as_said.end_ms, as_said.confidence,
        )  # fmt: skip
        assert as_said.redacted == ()


async def test_every_interim_hides_it(tmp_path: Path) -> None:
    async with Rig(tmp_path, redact="text", redact_kinds=["card", "email"]) as rig:
        await rig.call(
            "c1", speak(f"my email is john dot smith at gmail dot com my card is {CARD} thanks") + silence(800)
        )
        await rig.over("c1")
        events = [event for event in await rig.events(TRANSCRIPTS, "c1") if not isinstance(event, Heard)]
        assert len(events) > 3
        words = {word for event in events for word in event.text.split()}
        assert words.isdisjoint({"john", "smith", "gmail", "four", "one"})


class _Said:
    """A recogniser's answer without word times."""

    def __init__(self, transcript: str) -> None:
        self.transcript, self.words, self.confidence = transcript, (), 0.9


class _Result:
    def __init__(self, transcript: str) -> None:
        self.alternatives: Any = [_Said(transcript)]


def test_without_word_times_the_whole_utterance_is_silenced() -> None:
    builder = TranscriptBuilder("c1", 0, "caller", PatternRedactor())
    [part] = builder.parts(_Result(f"my card is {CARD}"))
    final = builder.final(part, 1000.0, heard_ms=9000, before="", model="")
    assert [(one.kind, one.start_ms, one.end_ms) for one in final.redacted] == [("card", 400, 9600)]


async def test_at_the_edges_of_an_utterance_more_is_silenced(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        await rig.call("c1", silence(2000) + speak(CARD) + silence(800), redact="audio")
        await rig.over("c1")
        [final] = await rig.transcripts("c1")
        [taken] = final.redacted
        assert (taken.start_ms, taken.end_ms) == (final.start_ms - EDGE_MS, final.end_ms + EDGE_MS)


def test_an_okay_does_not_make_a_number_forgotten() -> None:
    position = ChannelPosition()
    for start_ms, text in ((1000, "[card]"), (3000, "okay"), (5000, "That's right.")):
        said = Transcript(
            call="c1", channel=0, role="caller", utterance=f"c1/0/{start_ms}", start_ms=start_ms, end_ms=start_ms + 500,
            text=text, final=True, heard_ms=start_ms + 500,
        )  # fmt: skip
        position.add(said, start_ms)
    assert position.text_before(6000, 0) == "[card]"
    assert position.transcript_offset == 1000  # a successor reads from there, and remembers the same
    assert position.text_before(1500 + CONTEXT_MS + 1, 0) == ""
