"""Assistants from folders and files, and folders that change while an assistant runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dialog.flow.faults import FaultyAssistant
from dialog.flow.loading import AssistantFolder, check_texts, load, version_of
from tenor.errors import BadInput

MAIN = """
slots:
  location: {type: place, ask: ["Which city?", "Where is that?"], keep: call, confirm: below 0.5, labels: [location]}
  when: {type: when, confirm: never, depends_on: [location]}
  pick: {type: choice, choices: [small, large]}
actions:
  weather: {needs: [location], uses: [when], timeout: 2 s, retries: 0, filler: {after: 800 ms, say: "One moment."}}
  hold: {call: "dialog.flow.model:Slot", needs: [location], changes: order,
         confirm: "Hold it in {{location}}?", key: [location]}
guard: {medical: {like: [which pill is stronger, can i take both], say: "Please ask a pharmacist."}}
patterns: {failures: 2, silence: 6 s, handover: {queue: shop, wait: 30 s, mood: below -0.4}, digressions: 0,
           replies: {goodbye: [Bye, So long]}}
intents: {points.balance: {like: [how many points do i have]}}
aliases: {points: points.balance}
intent_transitions: {weather.weather: go, points.balance: which, nomatch.none: sorry, universal.person: person}
states:
  hello:
    type: message_text
    properties: {text: "Hello {{customer|default('there')}}", interruptible: no, delay: 500 ms}
  ask: {type: input_context}
  go: {type: task, properties: {action: weather, arguments: {measure: rain}}, transitions: {done: tell, failed: sorry}}
  tell: {type: message_text, properties: {text: "{{result.text}}"}, transitions: {next_state: ask}}
  sorry: {type: message_text_random, properties: {responses: Sorry}, delay: 0.2, transitions: {next_state: ask}}
  which: {type: choose, transitions: [{when: "result.count > 1", to: tell}, {to: own}]}
  own: {type: "dialog.flow.model:State", properties: {level: 3, names: [a, b]}, transitions: {anything: ask}}
  person: {type: handover, properties: {queue: shop, reason: asked}}
"""


def _write(folder: Path, text: str, name: str = "main_flow.yml") -> None:
    path = folder / name
    path.write_text(text)
    stamp = path.stat().st_mtime_ns + 1_000_000
    os.utime(path, ns=(stamp, stamp))


def test_a_folder_becomes_an_assistant_with_all_it_declares(tmp_path: Path) -> None:
    _write(tmp_path, MAIN)
    (tmp_path / "README.md").write_text("not a flow: {")
    assistant = load(tmp_path)
    location, when = assistant.slots["location"], assistant.slots["when"]
    assert [ask.source for ask in location.ask] == ["Which city?", "Where is that?"]
    assert (location.keep, location.confirm_below, location.labels) == ("call", 0.5, ("location",))
    assert (when.keep, when.confirm_below, when.depends_on) == ("topic", 0, ("location",))
    assert assistant.slots["pick"].choices == ("small", "large")
    weather, hold = assistant.actions["weather"], assistant.actions["hold"]
    assert (weather.call, weather.needs, weather.uses, weather.timeout_ms) == (
        "weather",
        ("location",),
        ("when",),
        2000,
    )
    assert weather.retries == 0
    assert weather.filler is not None
    assert (weather.filler.after_ms, weather.filler.say.source) == (800, "One moment.")
    assert (hold.changes, hold.key) == ("order", ("location",))
    assert hold.confirm is not None
    assert hold.confirm.render({"location": "Reno"}) == "Hold it in Reno?"
    assert assistant.guards[0].like == ("which pill is stronger", "can i take both")
    patterns = assistant.patterns
    assert (patterns.failures, patterns.silence_ms, patterns.digressions) == (2, 6000, 0)
    assert (patterns.handover_queue, patterns.handover_wait_ms, patterns.handover_mood) == ("shop", 30_000, -0.4)
    assert [text.source for text in patterns.replies["goodbye"]] == ["Bye", "So long"]
    assert assistant.examples == {"points.balance": ("how many points do i have",)}
    assert assistant.aliases["points"] == "points.balance"
    hello = assistant.state("main_flow.hello")
    assert (hello.delay_ms, hello.properties["interruptible"]) == (500, False)
    assert assistant.state("main_flow.sorry").delay_ms == 200
    which = assistant.state("main_flow.which")
    assert [(branch.when is not None, branch.to) for branch in which.branches] == [
        (True, "main_flow.tell"),
        (False, "main_flow.own"),
    ]
    own = assistant.state("main_flow.own")
    assert own.properties == {"level": "3", "names": ("a", "b")}
    assert own.transitions == {"anything": "main_flow.ask"}
    assert (hello.where.line, hello.where.column) == (17, 3)
    assert assistant.texts == {"main_flow.yml": MAIN}


def test_the_same_files_have_the_same_version_wherever_they_lie(tmp_path: Path) -> None:
    _write(tmp_path, MAIN)
    assistant = load(tmp_path)
    assert load([tmp_path / "main_flow.yml"]).version == assistant.version == version_of(assistant.texts)
    kept = check_texts(assistant.texts).assistant
    assert kept is not None
    assert kept.version == assistant.version
    _write(tmp_path, MAIN + "# a comment\n")
    assert load(tmp_path).version != assistant.version


def test_an_assistant_with_mistakes_is_refused_with_all_of_them(tmp_path: Path) -> None:
    _write(tmp_path, MAIN.replace("done: tell", "done: tel").replace("needs: [location]", "needs: [loc]", 1))
    with pytest.raises(FaultyAssistant) as refused:
        load(tmp_path)
    assert [fault.where.line for fault in refused.value.faults] == [7, 21]
    assert str(tmp_path / "main_flow.yml:21:") in refused.value.message
    assert refused.value.exit_code == 2


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no \.yml file"):
        load(tmp_path)
    with pytest.raises(BadInput, match="there is no file or folder"):
        load(tmp_path / "nowhere")
    (tmp_path / "main_flow.yml").write_bytes(b"name: \xff")
    with pytest.raises(FaultyAssistant, match="not UTF-8"):
        load(tmp_path)
    (tmp_path / "main_flow.yml").write_bytes(b"#" * (2 << 20))
    with pytest.raises(FaultyAssistant, match="larger than"):
        load(tmp_path)


def test_two_files_of_one_name_are_a_mistake(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        _write(tmp_path / name, MAIN)
    with pytest.raises(FaultyAssistant, match="is there twice"):
        load([tmp_path / "a", tmp_path / "b"])


def test_a_changed_folder_is_taken_over_and_the_old_version_is_still_there(tmp_path: Path) -> None:
    _write(tmp_path, MAIN)
    folder = AssistantFolder(tmp_path)
    first = folder.assistant
    assert not folder.refresh()
    _write(tmp_path, MAIN.replace("Sorry", "Pardon"))
    assert folder.refresh()
    assert folder.assistant.version != first.version
    assert folder.version(first.version) is first
    assert folder.version("unheard of") is None
    _write(tmp_path, "guard: {law: {like: [can i sue], say: Ask a lawyer.}}\n", "guards.yml")
    assert folder.refresh()
    assert [guard.name for guard in folder.assistant.guards] == ["law", "medical"] or len(folder.assistant.guards) == 2


def test_a_wrong_change_is_refused_with_its_faults_and_the_assistant_stays(tmp_path: Path) -> None:
    _write(tmp_path, MAIN)
    folder = AssistantFolder(tmp_path)
    before = folder.assistant
    _write(tmp_path, MAIN.replace("next_state: ask", "next_state: aks"))
    assert not folder.refresh()
    assert folder.assistant is before
    assert "did you mean 'ask'" in str(folder.faults[0])
    (tmp_path / "main_flow.yml").unlink()
    assert not folder.refresh()
    assert folder.faults
    assert folder.assistant is before
    _write(tmp_path, MAIN)
    assert not folder.refresh()
    assert not folder.faults
