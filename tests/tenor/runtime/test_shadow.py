"""How a candidate would answer: counted for all, shown to those who may see it, told to nobody."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from nlp.inference.models.language_model import DEFAULT
from storage.db.engine import using
from storage.registry.shadows import KeptLine, kept_sentences
from storage.viewer import HOUSE, Viewer
from tenor.bus.opening import open_bus
from tenor.errors import BadInput
from tenor.events import SENTENCES, TOPICS, Sentence
from tenor.runtime.shadow import ShadowRun, compare_kept, compare_live, open_asking
from tenor.settings import Settings
from tests.model_folders import language_folder
from tests.storage.conversations import START, add_call
from tests.watching import events

LINES = ("This is terrible and I am really angry.", "Let me look that up for you.", "Thank you, that was great.")


@pytest.mark.slow
def test_what_a_candidate_would_change_is_counted_and_some_of_it_shown(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    turned = open_asking("language", language_folder(tmp_path / "turned"), settings)
    shipped = open_asking("language", None, settings)
    kept = [KeptLine(text, "caller") for text in LINES * 30]
    told: list[int] = []
    found = compare_kept(kept, shipped, turned, show=20, told=told.append)
    assert sum(told) == found.sentences == 90
    assert found.counted() == {"sentiment": {"negative > positive": 30, "positive > negative": 30}}
    assert found.share == pytest.approx(2 / 3)
    assert len(found.examples) == 20
    assert {one.text for one in found.examples} == {LINES[0], LINES[2]}
    same = compare_kept(kept[:3], shipped, open_asking("language", DEFAULT, settings), show=20)
    assert (same.sentences, same.changed) == (3, 0)


def test_only_sentences_that_the_person_may_see_are_read(sqlite_settings: Settings) -> None:
    with using(sqlite_settings) as database:
        with database.begin() as session:
            add_call(session, "anns", "hello", "hi there", agent="ann")
            add_call(session, "bobs", "good day", "what now", agent="bob")
        with database.session() as session:
            everything = list(kept_sentences(session, HOUSE, START - 1, 100))
            own = list(kept_sentences(session, Viewer("ann", "agent"), START - 1, 100))
    assert [line.text for line in own] == ["hello", "hi there"]
    assert [line.before for line in own] == [None, "hello"]
    assert len(everything) == 4


async def test_on_live_calls_nobody_is_told(sqlite_settings: Settings) -> None:
    def turned(lines: list[KeptLine]) -> list[dict[str, str]]:
        return [{"sentiment": "positive", "intent": "complaint"} for _ in lines]

    run = ShadowRun(20)
    async with open_bus(sqlite_settings) as bus:
        comparing = asyncio.create_task(compare_live(bus, turned, seconds=30.0, run=run))  # type: ignore[arg-type]
        number = 0
        while run.sentences < 3:
            assert not comparing.done()
            sentence = Sentence(
                call="c", channel=0, role="caller", sentence=f"c/0/{number}", revision=0, start_ms=number,
                end_ms=number, text="I am angry", sentiment="negative", sentiment_scores={}, intent="complaint",
                intent_score=0.9,
            )  # fmt: skip
            await bus.publish(SENTENCES, sentence)
            number += 1
            await asyncio.sleep(0.2)
        comparing.cancel()
        await asyncio.gather(comparing, return_exceptions=True)
        published = [len(await events(bus, topic)) for topic in TOPICS if topic is not SENTENCES]
    assert run.changed == run.sentences
    assert run.counted() == {"sentiment": {"negative > positive": run.sentences}}
    assert not any(published)


def test_recognisers_are_not_compared_by_words(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="gate"):
        open_asking("speech", None, Settings(home=tmp_path))
