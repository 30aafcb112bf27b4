"""The metrics of a conversation, live: who talks how much, how fast, over whom, and how the mood of each side goes.

They are a function of the final transcripts and of the sentences' analyses, so a call that is heard again has the same
ones. docs/language.md says what each means.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from nlp.conversation.turns import Turns

HALF_LIFE = 3
"""Sentences after which one counts half in the mood of now."""
FEWEST_FOR_TREND = 3
MINUTE_MS = 60_000


class SentenceStats(NamedTuple):
    """What the metrics need to know of a sentence."""

    role: str
    start_ms: int
    words: int
    mood: float | None
    """None when nothing is known of it."""


def conversation_metrics(
    turns: Turns, sentences: Iterable[SentenceStats], *, written: bool, over: bool = False
) -> dict[str, float]:
    """By name, sides told apart as `name.role`. `over`: every channel was silent after its last word."""
    by_role: dict[str, list[SentenceStats]] = {}
    for sentence in sorted(sentences, key=lambda one: one.start_ms):
        by_role.setdefault(sentence.role, []).append(sentence)
    values: dict[str, float] = {}
    for role, own in by_role.items():
        values[f"sentences.{role}"] = len(own)
        values[f"words.{role}"] = sum(sentence.words for sentence in own)
        values |= {f"{name}.{role}": value for name, value in _mood_metrics(own).items()}
    if not written:
        values |= _turn_metrics(turns, turns.position_ms if over else turns.settled_ms)
    return {name: round(value, 3) for name, value in sorted(values.items())}


def _mood_metrics(sentences: Sequence[SentenceStats]) -> dict[str, float]:
    known = [(sentence.start_ms, sentence.mood) for sentence in sentences if sentence.mood is not None]
    if not known:
        return {}
    moods = [mood for _, mood in known]
    weights = [0.5 ** (age / HALF_LIFE) for age in range(len(moods))]
    recent = sum(weight * mood for weight, mood in zip(weights, reversed(moods), strict=True)) / sum(weights)
    values = {"mood": sum(moods) / len(moods), "mood_now": recent}
    if len(known) >= FEWEST_FOR_TREND and known[0][0] < known[-1][0]:
        values["mood_trend"] = _slope([at_ms / MINUTE_MS for at_ms, _ in known], moods)
    return values


def _slope(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Of the line that fits best."""
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - x_mean) ** 2 for x in xs)
    return sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys, strict=True)) / spread


def _turn_metrics(turns: Turns, until_ms: int) -> dict[str, float]:
    quiet = turns.silence_and_overlap(until_ms)
    values: dict[str, float] = {
        "silence_s": quiet.silence_ms / 1000,
        "silence_share": quiet.silence_ms / until_ms if until_ms else 0.0,
        "silence_longest_s": quiet.longest_silence_ms / 1000,
        "overlap_s": quiet.overlap_ms / 1000,
    }
    interruptions, monologues = turns.interruptions(), turns.monologues()
    total_ms = sum(channel.talk_ms for channel in turns.channels.values())
    for role in sorted({channel.role for channel in turns.channels.values() if channel.words}):
        channels = {number: channel for number, channel in turns.channels.items() if channel.role == role}
        talk_ms = sum(channel.talk_ms for channel in channels.values())
        values[f"talk_s.{role}"] = talk_ms / 1000
        values[f"talk_share.{role}"] = talk_ms / total_ms if total_ms else 0.0
        if talk_ms:
            words = sum(channel.words for channel in channels.values())
            values[f"words_per_minute.{role}"] = words * MINUTE_MS / talk_ms
        values[f"longest_monologue_s.{role}"] = max(monologues[number] for number in channels) / 1000
        values[f"interruptions.{role}"] = sum(interruptions[number] for number in channels)
        loudness = [channel.loudness for channel in channels.values() if channel.loudness is not None]
        if loudness:
            values[f"loudness.{role}"] = max(loudness)
    return values
