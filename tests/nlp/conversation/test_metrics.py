"""The metrics of a conversation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlp.conversation.metrics import SentenceStats, conversation_metrics
from nlp.conversation.turns import Turns
from tenor.events import Heard, Transcript
from tests.nlp.rig import heard, said


def turns(*events: Transcript | Heard, channels: int = 2) -> Turns:
    result = Turns(channels)
    for event in events:
        result.hear(event)
    return result


def of(*events: Transcript | Heard, over: bool = True, sentences: tuple[SentenceStats, ...] = ()) -> dict[str, float]:
    return conversation_metrics(turns(*events), sentences, written=False, over=over)


def test_talk_share_and_speed() -> None:
    values = of(said("one two three four", 0), said("five six", 5000, channel=1), heard(10_000))
    assert values["talk_s.caller"] == 1.2
    assert values["talk_s.agent"] == 0.6
    assert values["talk_share.caller"] == 0.667
    assert values["words_per_minute.caller"] == 200


def test_a_breath_is_part_of_talking_and_a_longer_pause_is_not() -> None:
    assert of(said("one", 0), said("two", 800))["talk_s.caller"] == 1.1
    assert of(said("one", 0), said("two", 801))["talk_s.caller"] == 0.6


def test_silence_and_overlap() -> None:
    values = of(
        said("a b c d e f g h i j", 2000), said("k l m n o", 4000, channel=1), heard(9000), heard(9000, channel=1)
    )
    # caller 2-5 s, agent 4-5.5 s
    assert values["silence_s"] == 2 + 3.5
    assert values["silence_longest_s"] == 3.5
    assert values["silence_share"] == round(5.5 / 9, 3)
    assert values["overlap_s"] == 1.0


def test_what_is_not_heard_yet_on_one_side_is_no_silence() -> None:
    live = of(said("one", 0), heard(9000), heard(2000, channel=1), over=False)
    assert live["silence_s"] == 2 - 0.3


def test_a_side_without_any_sound_does_not_hold_up_the_other_for_ever() -> None:
    assert turns(heard(20_000)).settled_ms == 0
    assert turns(heard(50_000)).settled_ms == 20_000
    assert turns(heard(50_000), channels=1).settled_ms == 50_000


def test_breaking_in_counts_for_who_did_it_and_a_remark_does_not() -> None:
    caller = said("this is quite a long story that I have to tell", 0)
    values = of(caller, said("let me stop you", 1500, channel=1))
    assert (values["interruptions.agent"], values["interruptions.caller"]) == (1, 0)
    assert of(caller, said("yes mhm", 1500, channel=1))["interruptions.agent"] == 0
    # both began together, or the first was as good as done: nobody broke in
    assert of(caller, said("let me stop you", 200, channel=1))["interruptions.agent"] == 0
    assert of(caller, said("let me stop you", 3200, channel=1))["interruptions.agent"] == 0


def test_a_monologue_goes_on_over_remarks_and_short_pauses() -> None:
    story = [said("once upon a time there was", 0), said("a call that went on", 3000), said("for very long", 9000)]
    assert of(*story)["longest_monologue_s.caller"] == 4.5
    remark, answer = said("mhm", 2200, channel=1), said("I see what you mean", 2200, channel=1)
    assert of(*story, remark)["longest_monologue_s.caller"] == 4.5
    assert of(*story, answer)["longest_monologue_s.caller"] == 1.8


def test_loudness_is_the_mean_energy_of_what_was_said() -> None:
    values = of(said("one two", 0, loudness=-20.0), said("three four", 5000, loudness=-10.0))
    assert values["loudness.caller"] == pytest.approx(-12.6, abs=0.05)
    assert "loudness.caller" not in of(said("one", 0))


def test_mood_now_and_its_trend() -> None:
    sentences = tuple(
        SentenceStats("caller", number * 30_000, 5, mood) for number, mood in enumerate((-1.0, -0.5, 0.0, 0.5))
    )
    values = of(said("x", 0), sentences=sentences)
    assert values["mood.caller"] == -0.25
    assert values["mood_trend.caller"] == 1.0
    assert -0.25 < values["mood_now.caller"] < 0.5
    with_unknown_mood = (*sentences, SentenceStats("caller", 200_000, 3, None))
    assert of(said("x", 0), sentences=with_unknown_mood)["mood.caller"] == -0.25
    assert of(said("x", 0), sentences=with_unknown_mood)["sentences.caller"] == 5


def test_a_text_has_no_times() -> None:
    values = conversation_metrics(turns(), [SentenceStats("caller", 0, 4, 0.5)], written=True, over=True)
    assert values == {"mood.caller": 0.5, "mood_now.caller": 0.5, "sentences.caller": 1, "words.caller": 4}


SPEECH = st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 12), st.sampled_from([0, 100, 300])), max_size=8)


@given(SPEECH, SPEECH)
def test_figures_do_not_depend_on_which_side_is_written_down_first(
    caller: list[tuple[int, int, int]], agent: list[tuple[int, int, int]]
) -> None:
    sides: list[list[Transcript | Heard]] = []
    for channel, speech in enumerate((caller, agent)):
        events: list[Transcript | Heard] = []
        at_ms = 0
        for pause_ms, count, word_ms in speech:
            final = said(" ".join(["word"] * count), at_ms + pause_ms, channel=channel, word_ms=word_ms)
            events.append(final)
            at_ms = final.end_ms
        sides.append([*events, heard(at_ms + 500, channel=channel)])
    one_way, other_way = of(*sides[0], *sides[1]), of(*sides[1], *sides[0])
    assert one_way == other_way
    total = max(side[-1].heard_ms for side in sides) / 1000
    assert 0 <= one_way["silence_s"] <= total + 0.001
    assert 0 <= one_way["silence_longest_s"] <= one_way["silence_s"] + 0.001
    spoken = sum(value for name, value in one_way.items() if name.startswith("talk_s."))
    assert spoken + one_way["silence_s"] - one_way["overlap_s"] == pytest.approx(total, abs=0.01)
