"""Further classifiers, by import path."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from nlp.inference.heads.aspects import Aspects
from nlp.inference.local import LocalBackend
from nlp.inference.plugins import load_classifiers
from nlp.inference.types import Backend, SentenceAnalysis
from tenor.errors import BadInput
from tests.nlp.rig import Rig, WordLists, said


class Length:
    """Long or short."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend

    def classify(self, sentences: Sequence[SentenceAnalysis]) -> list[tuple[str, float] | None]:
        return [("long", 1.0) if len(one.text) > 20 else ("short", 0.6) if one.text else None for one in sentences]


class Failing(Length):
    def classify(self, sentences: Sequence[SentenceAnalysis]) -> list[tuple[str, float] | None]:
        raise ValueError(sentences[0].text)


class Short(Length):
    def classify(self, sentences: Sequence[SentenceAnalysis]) -> list[tuple[str, float] | None]:
        return [("one", 1.0)]


class Deaf:
    def __init__(self, backend: Backend) -> None:
        pass


class Broken:
    def __init__(self, backend: Backend) -> None:
        raise RuntimeError("no licence")


HERE = "tests.nlp.inference.test_plugins"


def analyses(*texts: str) -> list[SentenceAnalysis]:
    return WordLists().analyze(texts)


@pytest.fixture(scope="module")
def local() -> LocalBackend:
    return LocalBackend()


def test_labels_by_name() -> None:
    classifiers = load_classifiers({"length": f"{HERE}:Length"}, WordLists())
    assert classifiers.labels(analyses("yes", "I want to have my money back")) == [
        {"length": "short"},
        {"length": "long"},
    ]


@pytest.mark.parametrize("bad", ["Failing", "Short"])
def test_one_that_fails_says_nothing_and_stops_nobody(bad: str) -> None:
    classifiers = load_classifiers({"bad": f"{HERE}:{bad}", "length": f"{HERE}:Length"}, WordLists())
    with capture_logs() as logs:
        labels = classifiers.labels(analyses("my secret", "no"))
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
        load_classifiers(paths, WordLists())
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
    assert load_classifiers({"topic": "our_topics:Topics"}, WordLists()).labels(analyses("hello")) == [{}]


def test_settings_of_version_0_2_name_aspects_as_they_did(local: LocalBackend) -> None:
    with capture_logs() as logs:
        classifiers = load_classifiers({"aspect": "nlp.aspects:Aspects"}, local)
    assert classifiers.labels(local.analyze(["the toaster I bought is broken"])) == [{"aspect": "product"}]
    [entry] = logs
    assert entry["before"] == "nlp.aspects:Aspects"
    assert entry["now"] == "nlp.inference.heads.aspects:Aspects"


def test_a_module_of_ones_own_that_imports_an_old_name_is_told_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "our_aspects.py").write_text("from nlp.aspects import Aspects\nclass Ours(Aspects): ...\n")
    with pytest.raises(BadInput, match=r"no module 'nlp\.aspects', it is 'nlp\.inference\.heads\.aspects' now"):
        load_classifiers({"aspect": "our_aspects:Ours"}, WordLists())


async def test_sentences_carry_the_labels(tmp_path: Path) -> None:
    classifiers = {"length": f"{HERE}:Length", "bad": f"{HERE}:Failing"}
    async with Rig(tmp_path, classifiers=classifiers) as rig:
        rig.start()
        await rig.state("live")
        await rig.say(said("Hello. I want to have my money back.", 0))
        await rig.state("ended")
        await rig.analysed()
        assert [sentence.labels for sentence in await rig.sentences()] == [{"length": "short"}, {"length": "long"}]


def test_aspects(local: LocalBackend) -> None:
    classifiers = load_classifiers({"aspect": "nlp.inference.heads.aspects:Aspects"}, local)
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
    found = classifiers.labels(local.analyze(list(told)))
    assert [labels.get("aspect") for labels in found] == list(told.values())


@pytest.mark.slow
def test_aspects_of_ones_own(local: LocalBackend, tmp_path: Path) -> None:
    class Ours(Aspects):
        file = tmp_path / "ours.yaml"

    Ours.file.write_text(
        "pets: [my dog is ill, the cat ran away, a dog barked]\ncars: [my car broke down, the engine, tyres]"
    )
    [answer] = Ours(local).classify(local.analyze(["the kitten was fed by my neighbour"]))
    assert answer is not None
    assert answer[0] == "pets"
    Ours.file.write_text("pets: [my dog is ill]\ncars:\n  - {a: b}\n")
    with pytest.raises(BadInput) as caught:
        Ours(local)
    assert "ours.yaml:1:1" in caught.value.message
    assert "ours.yaml:3:5" in caught.value.message


def test_without_our_own_encoder_there_are_no_aspects() -> None:
    """They are on by default, and a Riva server has no embeddings."""
    backend = WordLists()
    classifiers = load_classifiers({"aspect": "nlp.inference.heads.aspects:Aspects"}, backend)
    assert classifiers.labels(backend.analyze(["the toaster I bought is broken"])) == [{}]
