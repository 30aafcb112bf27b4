"""Further classifiers, by import path."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from nlp.aspects import Aspects
from nlp.classifiers import load
from nlp.local import LocalUnderstanding
from nlp.understood import Backend, Understood
from tenor.errors import BadInput
from tests.nlp.rig import Rig, WordLists, said


class Length:
    """Long or short."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend

    def classify(self, sentences: Sequence[Understood]) -> list[tuple[str, float] | None]:
        return [("long", 1.0) if len(one.text) > 20 else ("short", 0.6) if one.text else None for one in sentences]


class Failing(Length):
    def classify(self, sentences: Sequence[Understood]) -> list[tuple[str, float] | None]:
        raise ValueError(sentences[0].text)


class Short(Length):
    def classify(self, sentences: Sequence[Understood]) -> list[tuple[str, float] | None]:
        return [("one", 1.0)]


class Deaf:
    def __init__(self, backend: Backend) -> None:
        pass


class Broken:
    def __init__(self, backend: Backend) -> None:
        raise RuntimeError("no licence")


HERE = "tests.nlp.test_classifiers"


def understood(*texts: str) -> list[Understood]:
    return WordLists().understand(texts)


def test_labels_by_name() -> None:
    classifiers = load({"length": f"{HERE}:Length"}, WordLists())
    assert classifiers.labels(understood("yes", "I want to have my money back")) == [
        {"length": "short"},
        {"length": "long"},
    ]


@pytest.mark.parametrize("bad", ["Failing", "Short"])
def test_one_that_fails_says_nothing_and_stops_nobody(bad: str) -> None:
    classifiers = load({"bad": f"{HERE}:{bad}", "length": f"{HERE}:Length"}, WordLists())
    with capture_logs() as logs:
        labels = classifiers.labels(understood("my secret", "no"))
    assert labels == [{"length": "short"}] * 2
    assert [entry["classifier"] for entry in logs] == ["bad"]
    assert "secret" not in str(logs)


def test_everything_that_cannot_be_loaded_is_told_at_once() -> None:
    paths = {
        "a": "nowhere.at.all:Thing",
        "b": f"{HERE}:Missing",
        "c": "no colon",
        "d": f"{HERE}:Deaf",
        "e": f"{HERE}:Broken",
    }
    with pytest.raises(BadInput) as caught:
        load(paths, WordLists())
    for told in (
        "a: there is no module 'nowhere'",
        f"b: module '{HERE}' has no 'Missing'",
        "c: 'no colon' is not module:Class",
        "d: ",
        "has no method classify",
        "e: ",
        "RuntimeError: no licence",
    ):
        assert told in caught.value.message


def test_a_module_beside_the_configuration_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    method = "def __init__(self, backend): ...\n    def classify(self, found): return [None for _ in found]\n"
    module = f"class Topics:\n    {method}"
    (tmp_path / "our_topics.py").write_text(module)
    assert load({"topic": "our_topics:Topics"}, WordLists()).labels(understood("hello")) == [{}]


async def test_sentences_carry_the_labels(tmp_path: Path) -> None:
    classifiers = {"length": f"{HERE}:Length", "bad": f"{HERE}:Failing"}
    async with Rig(tmp_path, classifiers=classifiers) as rig:
        rig.start()
        await rig.state("live")
        await rig.say(said("Hello. I want to have my money back.", 0))
        await rig.state("ended")
        await rig.analysed()
        assert [sentence.labels for sentence in await rig.sentences()] == [{"length": "short"}, {"length": "long"}]


@pytest.fixture(scope="module")
def local() -> LocalUnderstanding:
    return LocalUnderstanding()


def test_aspects(local: LocalUnderstanding) -> None:
    classifiers = load({"aspect": "nlp.aspects:Aspects"}, local)
    told = {
        "the toaster I bought is broken": "product",
        "you charged me forty dollars too much": "price",
        "the courier threw it over the fence": "delivery",
        "the lady on the phone was lovely": "support",
        "my name is Susan": None,
        "okay": None,
        "": None,
        "我的包裹在哪里": None,
    }
    found = classifiers.labels(local.understand(list(told)))
    assert [labels.get("aspect") for labels in found] == list(told.values())


def test_aspects_of_ones_own(local: LocalUnderstanding, tmp_path: Path) -> None:
    class Ours(Aspects):
        file = tmp_path / "ours.yaml"

    Ours.file.write_text(
        "pets: [my dog is ill, the cat ran away, a dog barked]\ncars: [my car broke down, the engine, tyres]"
    )
    [answer] = Ours(local).classify(local.understand(["the kitten was fed by my neighbour"]))
    assert answer is not None
    assert answer[0] == "pets"
    Ours.file.write_text("pets: [my dog is ill]\ncars:\n  - {a: b}\n")
    with pytest.raises(BadInput) as caught:
        Ours(local)
    assert "ours.yaml:1:1" in caught.value.message
    assert "ours.yaml:3:5" in caught.value.message


def test_aspects_need_our_own_encoder() -> None:
    with pytest.raises(BadInput, match=r"language\.backend"):
        load({"aspect": "nlp.aspects:Aspects"}, WordLists())
