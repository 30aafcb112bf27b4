"""Calls with something to see in them, for pictures and benchmarks. What is said is in scenes.yaml."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import yaml

from tests.dashboard.floor import Floor, FloorCall

FIGURES = {
    "talk_share__caller": 0.46,
    "talk_share__agent": 0.54,
    "silence_share": 0.12,
    "silence_longest_s": 9.0,
    "overlap_s": 3.0,
    "interruptions__agent": 1.0,
    "interruptions__caller": 2.0,
    "words_per_minute__caller": 162.0,
    "words_per_minute__agent": 141.0,
    "longest_monologue_s__agent": 14.0,
}


MORE = (
    ("farid", "Porto", 4, 4),
    ("grace", "Leeds", 1, 4),
    ("hiro", "Leeds", 2, 5),
    ("ines", "Porto", 0, 3),
    ("jonas", "Porto", 3, 2),
    ("kira", "Leeds", 1, 6),
    ("lena", "Porto", 4, 6),
)
"""Who else is on the floor: agent, site, which scene, and how far it has come."""


def floor_at_work(floor: Floor) -> list[FloorCall]:
    """A dozen calls, good ones and bad ones, as if they had been going on for a while; the first five are whole."""
    scenes = yaml.safe_load(Path(__file__).with_name("scenes.yaml").read_text("utf-8"))
    calls = []
    for scene in scenes:
        about = {name: scene[name] for name in ("agent", "queue", "site", "customer")}
        lasted = sum(0.9 + 0.06 * len(line[-1]) for line in scene["lines"])
        call = floor.call(started_at=time.time() - lasted - 3, **about)
        _say(call, scene["lines"], scene["task"])
        calls.append(call)
    for agent, site, scene, words in MORE:
        whole = scenes[scene]
        call = floor.call(agent, queue=whole["queue"], site=site, started_at=time.time() - 90 - 40 * words)
        _say(call, whole["lines"][:words], whole["task"])
    upset, slow, bill = calls[0], calls[2], calls[4]
    upset.alert("caller_upset", "Caller negative three sentences in a row", "critical", escalation=True)
    upset.interim("agent", "You are right, and I would like to")
    slow.interim("caller", "Now all of them are")
    bill.alert("refund_promised", "The agent promised money back", "info")
    return calls


def _say(call: FloorCall, lines: list[Any], task: str) -> None:
    for role, sentiment, intent, slots, text in lines:
        call.says(role, text, sentiment, intent=intent, slots=slots)
    call.metrics(task=task, **FIGURES)
