"""Where utterances begin and end, on made-up probabilities."""

from __future__ import annotations

from asr.local.stt.endpointer import Endpointer, SpeechState
from asr.local.stt.types import Endpointing

S, Q = 0.9, 0.01


def run(endpointer: Endpointer, probabilities: list[float]) -> list[SpeechState]:
    return [endpointer.update(probability) for probability in probabilities]


def test_an_utterance_begins_and_ends() -> None:
    endpointer = Endpointer(Endpointing(stop_history_ms=320))
    states = run(endpointer, [Q] * 10 + [S] * 10 + [Q] * 10)
    assert states.index(SpeechState.ONSET) == 11
    assert states[-1] is SpeechState.END
    assert (endpointer.onset, endpointer.end) == (10, 20)


def test_stop_history_moves_the_end() -> None:
    ends = {}
    for history in (400, 1200):
        endpointer = Endpointer(Endpointing(stop_history_ms=history))
        states = run(endpointer, [S] * 10 + [Q] * 60)
        ends[history] = states.index(SpeechState.END) * 32
    assert 780 <= ends[1200] - ends[400] <= 820


def test_stop_threshold_tolerates_a_click() -> None:
    said = [S] * 10 + [Q] * 10 + [S] + [Q] * 14
    strict = Endpointer(Endpointing(stop_history_ms=800, stop_threshold=1.0))
    lenient = Endpointer(Endpointing(stop_history_ms=800, stop_threshold=0.9))
    assert SpeechState.END not in run(strict, said)
    assert run(lenient, said)[-1] is SpeechState.END


def test_start_threshold_is_a_share_of_the_window() -> None:
    click = [Q] * 10 + [S] * 3 + [Q] * 10
    assert SpeechState.ONSET in run(Endpointer(Endpointing(start_threshold=0.2)), click)
    assert SpeechState.ONSET not in run(Endpointer(Endpointing(start_threshold=0.8)), click)


def test_a_long_utterance_is_cut_at_its_quietest_place() -> None:
    endpointer = Endpointer(Endpointing(max_utterance_ms=6400))
    said = [S] * 200
    said[170] = 0.2
    states = run(endpointer, said)
    assert states[-1] is SpeechState.CUT
    assert endpointer.end == 170


def test_the_cut_falls_on_whole_samples() -> None:
    endpointer = Endpointer(Endpointing(max_utterance_ms=6400), step=5)
    said = [S] * 200
    said[171] = 0.2
    run(endpointer, said)
    assert endpointer.end % 5 == 0
