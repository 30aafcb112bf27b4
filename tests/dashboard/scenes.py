"""Calls with something to see in them, for pictures and benchmarks. What is said is in scenes.yaml."""

from __future__ import annotations

import time
from pathlib import Path

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


def floor_at_work(floor: Floor) -> list[FloorCall]:
    """Five calls, good ones and bad ones, as if they had been going on for a minute."""
    calls = []
    for scene in yaml.safe_load(Path(__file__).with_name("scenes.yaml").read_text("utf-8")):
        lines, task = scene.pop("lines"), scene.pop("task")
        lasted = sum(0.9 + 0.06 * len(line[-1]) for line in lines)
        call = floor.call(scene.pop("agent"), started_at=time.time() - lasted - 3, **scene)
        for role, sentiment, intent, slots, text in lines:
            call.says(role, text, sentiment, intent=intent, slots=slots)
        call.metrics(task=task, **FIGURES)
        calls.append(call)
    upset, slow, bill = calls[0], calls[2], calls[4]
    upset.alert("caller_upset", "Caller negative three sentences in a row", "critical", escalation=True)
    upset.interim("agent", "You are right, and I would like to")
    slow.interim("caller", "Now all of them are")
    bill.alert("refund_promised", "The agent promised money back", "info")
    return calls
