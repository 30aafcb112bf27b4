"""Calls with something to see in them, for the pictures. What is said is in scenes.yaml."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import yaml

from nlp.conversation.summary import summarize
from nlp.rules import read as read_rules
from nlp.rules.history import CallHistory
from nlp.rules.replay import watch_again
from nlp.scorecard import read as read_form
from tenor.taxonomy.polarity import feeling
from tests.dashboard.floor import Floor, FloorCall

Scene = dict[str, Any]


def floor_at_work(floor: Floor) -> dict[str, FloorCall]:
    """A dozen calls by agent, good ones and bad ones, as if they had been going on for a while."""
    scenes = yaml.safe_load(Path(__file__).with_name("scenes.yaml").read_text("utf-8"))
    return {scene["agent"]: _play(floor, scene) for scene in scenes}


def goes_on(calls: dict[str, FloorCall]) -> None:
    """What is being said while somebody looks."""
    for agent in ("anna", "emil", "hiro", "jonas"):
        calls[agent].says_again()
    calls["anna"].interim("agent", "You are right, and I would like to")
    calls["carla"].interim("caller", "Now all of them are")


def over(floor: Floor) -> FloorCall:
    """One of them as it is when it is over: with its scorecard, and with what a language model writes of it, too."""
    scenes = yaml.safe_load(Path(__file__).with_name("scenes.yaml").read_text("utf-8"))
    scene = scenes[1] | {"customer": "R. Keller"}
    call = _play(floor, scene, over=True)
    call.ends("analysed")
    call.summarised(scene["written"], model="small-instruct")
    return call


def _play(floor: Floor, scene: Scene, *, over: bool = False) -> FloorCall:
    lasted = sum(scene["pause"] + 0.7 + 0.06 * len(line[-1]) for line in scene["lines"])
    about = {name: scene[name] for name in ("agent", "queue", "site", "customer", "medium") if name in scene}
    call = floor.call(started_at=time.time() - lasted - 2, **about)
    spoken: dict[str, list[tuple[int, int]]] = {"caller": [], "agent": []}
    sentences = []
    for number, (role, mood, intent, slots, text) in enumerate(scene["lines"]):
        late_s = 0.55 + 0.07 * (number * 5 % 6)
        said = call.says(role, text, feeling(mood), mood=mood, intent=intent, slots=slots, late_s=late_s)
        sentences.append(said)
        spoken[role].append((said.end_ms - said.start_ms, len(text.split())))
        call.at_ms += 1000 * scene["pause"]
    figures = {**_figures(spoken), **scene["figures"]} if call.info.medium == "voice" else {}
    form, history = read_form(), CallHistory([])
    if over:
        _, history = watch_again(read_rules(), call.id, call.info, sentences, call.at_ms, further=[*form.conditions()])
    summary = summarize(sentences, scene["task"], frozenset({scene["task"]}), over=over)
    call.metrics(scene["task"], summary, form.fill(history, call.info), **figures)
    if "alert" in scene:
        rule, severity, text = scene["alert"]
        call.at_ms -= 1000 * scene["pause"]
        call.alert(rule, text, severity, escalation=severity == "critical", sentence=said.sentence)
    return call


def _figures(spoken: dict[str, list[tuple[int, int]]]) -> dict[str, Any]:
    """What the lines tell by themselves."""
    lengths = {role: sum(length for length, _ in turns) for role, turns in spoken.items()}
    figures = {}
    for role, turns in spoken.items():
        figures[f"talk_share.{role}"] = lengths[role] / sum(lengths.values())
        figures[f"words_per_minute.{role}"] = 60_000 * sum(words for _, words in turns) / lengths[role]
        figures[f"longest_monologue_s.{role}"] = max(length for length, _ in turns) / 1000
    return figures
