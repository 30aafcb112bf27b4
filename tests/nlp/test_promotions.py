"""A model is promoted while calls go on: each is told to its end by the model with which it began."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tenor.events import MODELS, ModelLoaded, Sentence
from tenor.model_store import shipped
from tenor.model_store.promotion_log import FILE
from tests.model_folders import promoted, promotion, registered
from tests.nlp.rig import Rig, said

SHIPPED, HOUSE = shipped.SHIPPED["language"].id, "house-1"
ANGRY = "This is terrible and I am really angry."


class HotRig(Rig):
    """With the models of a registry instead of one that a test gives."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.backend = None
        assert self.settings.models_folder is not None
        self.models = self.settings.models_folder

    async def loaded(self, model: str) -> ModelLoaded:
        async def told() -> ModelLoaded | None:
            events = await self.events(MODELS)
            return next((one for one in events if isinstance(one, ModelLoaded) and one.model == model), None)

        await self.until(told)
        found = await told()
        assert found is not None
        return found

    async def told(self, call: str, count: int) -> list[Sentence]:
        async def there() -> bool:
            return len(await self.sentences(call)) >= count

        await self.until(there)
        return await self.sentences(call)


def by(sentence: Sentence) -> str:
    """Who told it, by what it says and not only by what it claims: the house's model has the moods turned round."""
    names = {name.partition("@")[0] for name in sentence.models.values()}
    assert len(names) == 1
    assert sentence.sentiment == {SHIPPED: "negative", HOUSE: "positive"}[names.copy().pop()]
    return names.pop()


async def test_a_call_keeps_its_model_and_the_next_call_gets_the_new_one(tmp_path: Path) -> None:
    async with HotRig(tmp_path) as rig:
        rig.start()
        now = time.time()
        await rig.state("live", "old", started_at=now - 60)
        await rig.say(said(ANGRY, 0, call="old"))
        await rig.told("old", 1)
        promoted(rig.models, promotion(HOUSE, registered(rig.models, HOUSE), now - 5))
        assert (await rig.loaded(HOUSE)).reason == ""
        await rig.state("live", "new", started_at=now)
        # Both in one batch: it is split by model, and every sentence names its own.
        await rig.say(said(ANGRY, 0, call="new"), said(ANGRY, 9000, call="old"), said(ANGRY, 9000, call="new"))
        assert [by(one) for one in await rig.told("old", 2)] == [SHIPPED, SHIPPED]
        assert [by(one) for one in await rig.told("new", 2)] == [HOUSE, HOUSE]
        [sentence, _] = await rig.sentences("new")
        assert sentence.models["intent"].startswith(f"{HOUSE}@")


async def test_promoted_at_once_it_counts_for_calls_that_go_on(tmp_path: Path) -> None:
    async with HotRig(tmp_path) as rig:
        rig.start()
        await rig.state("live", started_at=time.time() - 60)
        await rig.say(said(ANGRY, 0))
        await rig.told("c", 1)
        sha256 = registered(rig.models, HOUSE)
        promoted(rig.models, promotion(HOUSE, sha256, time.time(), at_once=True))
        await rig.loaded(HOUSE)
        await rig.say(said(ANGRY, 9000))
        assert [by(one) for one in await rig.told("c", 2)] == [SHIPPED, HOUSE]


@pytest.mark.slow
async def test_a_successor_gives_open_calls_the_model_they_had(tmp_path: Path) -> None:
    async with HotRig(tmp_path) as rig:
        now = time.time()
        promoted(rig.models, promotion(HOUSE, registered(rig.models, HOUSE), now - 30))
        rig.start()
        await rig.state("live", "old", started_at=now - 60)
        await rig.state("live", "new", started_at=now)
        await rig.say(said(ANGRY, 0, call="old"), said(ANGRY, 0, call="new"))
        await rig.told("old", 1)
        await rig.told("new", 1)
        await rig.stop()
        promoted(rig.models, promotion(SHIPPED, "", time.time(), previous=HOUSE, why="rolled back"))
        rig.start()
        await rig.say(said(ANGRY, 9000, call="old"), said(ANGRY, 9000, call="new"))
        assert [by(one) for one in await rig.told("old", 2)] == [SHIPPED, SHIPPED]
        assert [by(one) for one in await rig.told("new", 2)] == [HOUSE, HOUSE]
        # A call that begins after the rollback has what ships.
        await rig.state("live", "newest", started_at=time.time())
        await rig.say(said(ANGRY, 0, call="newest"))
        assert by((await rig.told("newest", 1))[0]) == SHIPPED


@pytest.mark.parametrize("broken", ["golden", "files"])
async def test_a_model_that_is_not_what_it_should_be_leaves_the_old_one(broken: str, tmp_path: Path) -> None:
    async with HotRig(tmp_path) as rig:
        rig.start()
        sha256 = registered(rig.models, HOUSE)
        golden = '{"text": "This is terrible.", "answers": {"sentiment": "negative"}}\n'
        (rig.models / HOUSE / "golden.jsonl").write_text(golden)
        if broken == "golden":
            from tenor.model_store.digest import digest_of, file_hashes

            sha256 = digest_of(file_hashes(rig.models / HOUSE))
        promoted(rig.models, promotion(HOUSE, sha256, time.time() - 1))
        told = await rig.loaded(HOUSE)
        assert ("golden" if broken == "golden" else "is not the model") in told.reason
        assert told.stage == "language"
        await rig.state("live", started_at=time.time())
        await rig.say(said(ANGRY, 0))
        assert by((await rig.told("c", 1))[0]) == SHIPPED


async def test_half_a_promotion_changes_nothing(tmp_path: Path) -> None:
    async with HotRig(tmp_path) as rig:
        rig.models.mkdir(parents=True)
        (rig.models / FILE).write_bytes(b'{"kind": "language", "model": "house-1", "effec')
        rig.start()
        await rig.state("live", started_at=time.time())
        await rig.say(said(ANGRY, 0))
        assert by((await rig.told("c", 1))[0]) == SHIPPED
