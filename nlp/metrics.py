"""The figures of a conversation, live: who talks how much, how fast, over whom, and how the mood of each side goes.

They are a function of the final transcripts and of what was understood, so a call that is heard again has the same
ones. docs/language.md says what each means.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from nlp.talk import Talk

HALF_LIFE = 3
"""Sentences after which one counts half in the mood of now."""
FEWEST_FOR_TREND = 3
MINUTE_MS = 60_000


class Felt(NamedTuple):
    """A sentence, as far as the figures are concerned."""

    role: str
    start_ms: int
    words: int
    mood: float | None
    """None when nothing could be told."""


def figures(talk: Talk, felt: Iterable[Felt], *, written: bool, over: bool = False) -> dict[str, float]:
    """By name, sides told apart as `name.role`. `over`: every channel was silent after its last word."""
    sides: dict[str, list[Felt]] = {}
    for sentence in sorted(felt, key=lambda one: one.start_ms):
        sides.setdefault(sentence.role, []).append(sentence)
    values: dict[str, float] = {}
    for role, sentences in sides.items():
        values[f"sentences.{role}"] = len(sentences)
        values[f"words.{role}"] = sum(sentence.words for sentence in sentences)
        values |= {f"{name}.{role}": value for name, value in _moods(sentences).items()}
    if not written:
        values |= _spoken(talk, talk.position_ms if over else talk.settled_ms)
    return {name: round(value, 3) for name, value in sorted(values.items())}


def _moods(sentences: Sequence[Felt]) -> dict[str, float]:
    told = [(sentence.start_ms, sentence.mood) for sentence in sentences if sentence.mood is not None]
    if not told:
        return {}
    moods = [mood for _, mood in told]
    weights = [0.5 ** (age / HALF_LIFE) for age in range(len(moods))]
    recent = sum(weight * mood for weight, mood in zip(weights, reversed(moods), strict=True)) / sum(weights)
    values = {"mood": sum(moods) / len(moods), "mood_now": recent}
    if len(told) >= FEWEST_FOR_TREND and told[0][0] < told[-1][0]:
        values["mood_trend"] = _slope([at_ms / MINUTE_MS for at_ms, _ in told], moods)
    return values


def _slope(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Of the line that fits best."""
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - x_mean) ** 2 for x in xs)
    return sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys, strict=True)) / spread


def _spoken(talk: Talk, until_ms: int) -> dict[str, float]:
    quiet = talk.quiet(until_ms)
    values: dict[str, float] = {
        "silence_s": quiet.silence / 1000,
        "silence_share": quiet.silence / until_ms if until_ms else 0.0,
        "silence_longest_s": quiet.longest / 1000,
        "overlap_s": quiet.overlap / 1000,
    }
    interruptions, monologues = talk.interruptions(), talk.monologues()
    total_ms = sum(side.talk_ms for side in talk.sides.values())
    for role in sorted({side.role for side in talk.sides.values() if side.words}):
        channels = [channel for channel, side in talk.sides.items() if side.role == role]
        sides = [talk.sides[channel] for channel in channels]
        talk_ms = sum(side.talk_ms for side in sides)
        values[f"talk_s.{role}"] = talk_ms / 1000
        values[f"talk_share.{role}"] = talk_ms / total_ms if total_ms else 0.0
        if talk_ms:
            values[f"words_per_minute.{role}"] = sum(side.words for side in sides) * MINUTE_MS / talk_ms
        values[f"longest_monologue_s.{role}"] = max(monologues[channel] for channel in channels) / 1000
        values[f"interruptions.{role}"] = sum(interruptions[channel] for channel in channels)
        loudness = [side.loudness for side in sides if side.loudness is not None]
        if loudness:
            values[f"loudness.{role}"] = max(loudness)
    return values
