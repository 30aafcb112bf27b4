"""Who ends in "in the" is waited for, and what follows is the same turn."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from dialog.end_of_turn import is_unfinished, is_waited_for, joined, lines_of_turn
from dialog.engine.events import Heard, Key
from dialog.exchange import CallInput
from tenor.events import TRANSCRIPTS
from tenor.settings import Settings
from tests.dialog.rig import Rig, line


@pytest.mark.parametrize(
    ("text", "unfinished"),
    [
        ("will it rain tomorrow in", True),
        ("I am looking for the", True),
        ("I'd like, um...", True),
        ("Two hundred", True),
        ("and.", True),
        ("will it rain tomorrow in Boston", False),
        ("Which store is it in?", False),
        ("no", False),
        ("", False),
        ("...", False),
        ("\U0001f600", False),
        ("the " * 50_000, True),
    ],
)
def test_what_is_unfinished(text: str, unfinished: bool) -> None:
    assert is_unfinished(text) is unfinished


def heard(text: str, at: float, **fields: Any) -> CallInput:
    usual = {"kind": "heard", "event": Heard(text), "cause": (f"c/0/{at:.0f}",), "topic": "t", "offset": int(at)}
    return CallInput(text=text, at=at, **{**usual, **fields})


def test_lines_are_joined_by_the_times_of_their_records() -> None:
    first, second, third = heard("will it rain in", 10), heard("new york and", 11), heard("boston", 12.4)
    made = joined(lines_of_turn([first, second, third]))
    assert (made.text, made.cause, made.offset, made.at) == (
        "will it rain in new york and boston", ("c/0/10", "c/0/11", "c/0/12"), 12, 12.4,
    )  # fmt: skip
    assert made.event == Heard("will it rain in new york and boston")
    late = heard("new york", 11.6)
    assert lines_of_turn([first, late]) == [first]
    assert lines_of_turn([third, second]) == [third]
    key = CallInput(kind="key", event=Key("1"), at=10.5, topic="t", offset=9)
    assert lines_of_turn([first, key, second]) == [first]
    assert lines_of_turn([key]) == [key]


def test_an_unfinished_line_is_waited_for_a_little() -> None:
    assert is_waited_for([heard("rain in", 10)], 11.4)
    assert not is_waited_for([heard("rain in", 10)], 11.5)
    assert not is_waited_for([heard("rain in boston", 10)], 10.0)


@pytest.mark.slow
async def test_a_spoken_question_in_two_pieces_is_one_turn(embedded_settings: Settings) -> None:
    async with Rig(embedded_settings) as rig:
        rig.start()
        await rig.open(medium="voice")
        await rig.turn(0)
        await rig.bus.publish(TRANSCRIPTS, line("will it rain tomorrow in", 1))
        await asyncio.sleep(0.5)
        await rig.bus.publish(TRANSCRIPTS, line("seattle", 2))
        turn = await rig.turn(1)
        assert (turn.input, turn.cause) == ("will it rain tomorrow in seattle", ("c/0/1000", "c/0/2000"))
        assert turn.actions[0].arguments["location"] == "Seattle"
        began = time.monotonic()
        await rig.bus.publish(TRANSCRIPTS, line("how much is the", 3))
        assert (await rig.turn(2)).input == "how much is the"
        assert time.monotonic() - began > 1.0
