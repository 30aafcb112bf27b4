"""Names and units of the metrics in CallMetrics, for rules that set a limit to one."""

from __future__ import annotations

from tenor.yaml.fields import quantity, seconds

SIDED = (
    "talk_s",
    "talk_share",
    "words",
    "sentences",
    "words_per_minute",
    "longest_monologue_s",
    "interruptions",
    "loudness",
    "mood",
    "mood_now",
    "mood_trend",
)
"""Written with the side: `talk_share.agent`."""
WHOLE = ("silence_s", "silence_share", "silence_longest_s", "overlap_s")
NAMES = (*WHOLE, *(f"{name}.{side}" for name in SIDED for side in ("caller", "agent")))


def is_metric(name: str) -> bool:
    base, dot, side = name.partition(".")
    return (base in SIDED and bool(side)) if dot else base in WHOLE


def limit(name: str, text: str) -> float | None:
    """The number that a limit of this metric means; None when its unit does not fit."""
    found = quantity(text)
    if found is None:
        return None
    value, unit = found
    base = name.partition(".")[0]
    if base.endswith("_s"):
        return seconds(value, unit)
    if base.endswith("_share"):
        return value / 100 if unit == "%" else value if not unit and 0 <= value <= 1 else None
    if base == "loudness":
        return value if unit in ("", "dB", "dBFS") else None
    return value if not unit else None


def example(name: str) -> str:
    base = name.partition(".")[0]
    if base.endswith("_s"):
        return "20 s"
    return {"talk_share": "80 %", "silence_share": "40 %", "loudness": "-12 dB", "mood": "-0.3"}.get(base, "3")


def display(name: str, value: float) -> str:
    """A value as people say it."""
    base = name.partition(".")[0]
    if base.endswith("_s"):
        return f"{value:.0f} s"
    if base.endswith("_share"):
        return f"{value:.0%}".replace("%", " %")
    return f"{value:.2f}".rstrip("0").rstrip(".")
